/**
 * What is asked of SillyTavern, in one place: everything that differs between its versions stays in here.
 */

/** SillyTavern as it is at this moment; ask anew each time, its fields are copies. @returns {any} */
export const context = () => SillyTavern.getContext();

/** The chat's messages themselves, in order. @returns {any[]} */
export const messages = () => context().chat ?? [];

/**
 * The open chat, or null where none is (the welcome screen has messages too, but no file).
 * `parent`: the file name of the chat it was branched from.
 * @returns {{id: string, title: string, parent: string|null, user: string, character: string}|null}
 */
export function openChat() {
    const { chatMetadata, chatId, groupId, characterId, name1, name2, groups } = context();
    const id = chatMetadata?.integrity;
    if (!id || !chatId || (groupId == null && characterId == null)) return null;
    const group = groupId == null ? null : groups.find((/** @type {any} */ one) => one.id === groupId);
    return { id, title: String(chatId), parent: chatMetadata.main_chat ?? null, user: name1, character: group?.name ?? name2 };
}

/** The open chat's file as SillyTavern's server gives it: JSON, not parsed. @returns {Promise<string>} */
export async function storedChat() {
    const { characters, characterId, groupId, chatId, getRequestHeaders } = context();
    const { name, avatar } = characters[characterId] ?? {};
    const [path, asked] = groupId != null ? ['/api/chats/group/get', { id: chatId }]
        : ['/api/chats/get', { ch_name: name, file_name: chatId, avatar_url: avatar }];
    const sent = { method: 'POST', headers: getRequestHeaders(), body: JSON.stringify(asked) };
    return (await fetch(path, sent)).text();
}

/**
 * One of SillyTavern's own modules, for what its context does not offer.
 * @param {string} path @returns {Promise<any>}
 */
export const internals = (path) => import(`/${path}`);

/** Whether SillyTavern is connected to a model. */
export const online = () => context().onlineStatus !== 'no_connection';

/** Whether a generation is under way, whoever began it. */
export const isGenerating = () => document.body.dataset.generating === 'true';

/** The same by SillyTavern's own flags, which are up earlier, and between the replies of a group too. */
export async function isBusy() {
    const [script, groups] = await Promise.all([internals('script.js'), internals('scripts/group-chats.js')]);
    return Boolean(isGenerating() || script.is_send_press || groups.is_group_generating);
}

/**
 * @param {'info'|'success'|'warning'|'error'} kind @param {string} text @param {Record<string, any>} [options] of toastr
 * @returns {() => void} takes it away, if it is still there
 */
export function toast(kind, text, options = {}) {
    const shown = toastr[kind](text, 'Turnfold', { escapeHtml: true, preventDuplicates: true, ...options });
    return () => { if (shown) toastr.clear(shown, { force: true }); };
}

/**
 * The tokens that the model's window has for a prompt, as the projection is asked for it.
 * @returns {{context_size?: number, max_tokens?: number}}
 */
export function windowSize() {
    const { mainApi, maxContext, chatCompletionSettings: chat } = context();
    const size = mainApi === 'openai' ? chat.openai_max_context - chat.openai_max_tokens : maxContext;
    return size > 1 ? { context_size: Math.trunc(size), max_tokens: 1 } : {};
}

/** Calls `listener` at each of the events that this version has. @param {string[]} names @param {(...told: any[]) => void} listener */
export function on(names, listener) {
    const { eventSource, eventTypes } = context();
    for (const name of names) if (eventTypes[name]) eventSource.on(eventTypes[name], listener);
}

/**
 * A toast that stays until it is closed, with `content` in it. @param {Node} content
 * @returns {{close: () => void, isOpen: () => boolean}}
 */
export function note(content) {
    const options = { timeOut: 0, extendedTimeOut: 0, tapToDismiss: false, closeButton: true, preventDuplicates: false };
    const shown = toastr.info('', 'Turnfold', options);
    shown[0].append(content);
    return { close: () => toastr.clear(shown, { force: true }), isOpen: () => shown[0].isConnected };
}

/**
 * A dialog, not shown yet: `show()` promises its result, `complete(result)` closes it. `signal`: the chat that it is
 * about; the dialog goes when the chat does, and leaves nothing behind at the signal when it was closed before.
 * @param {Node} content @param {{signal?: AbortSignal, [option: string]: any}} [options] of SillyTavern's popup
 * @returns {{show: () => Promise<any>, complete: (result: any) => void}}
 */
export function dialog(content, { signal, ...options } = {}) {
    const { Popup, POPUP_TYPE } = context();
    const popup = new Popup(content, POPUP_TYPE.TEXT, '', { leftAlign: true, allowVerticalScrolling: true, ...options });
    const complete = (/** @type {any} */ result) => void popup.complete(result);
    return { complete, show: () => (signal ? shownWith(signal, popup) : popup.show()) };
}

/** @param {AbortSignal} signal @param {any} popup */
async function shownWith(signal, popup) {
    if (signal.aborted) return null;
    const close = () => void popup.complete(null);
    signal.addEventListener('abort', close, { once: true });
    try {
        return await popup.show();
    } finally {
        signal.removeEventListener('abort', close);
    }
}

/** Whether something asks for the person's attention already. */
export const isPopupOpen = () => document.querySelector('dialog[open]') !== null;

/** Scrolls to a message, which is rendered first if need be. @param {number} index */
export const jumpTo = (index) => context().executeSlashCommandsWithOptions(`/chat-jump ${Math.trunc(index)}`);
