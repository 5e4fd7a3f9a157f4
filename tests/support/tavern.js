/** In SillyTavern's page: what tests ask of it where a click would differ between versions. */
(() => {
    const context = () => SillyTavern.getContext();
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    const CALM = 3; // times in a row: between two steps of a generation nothing seems to be under way
    const modules = {};

    const busy = () => Boolean(document.body.dataset.generating || modules.script.is_send_press
        || modules.groups.is_group_generating || modules.slash.isExecutingCommandsFromChatInput);

    async function until(what, reached, seconds = 20) {
        const deadline = performance.now() + seconds * 1000;
        for (let times = 0; times < CALM; await pause(15)) {
            times = reached() ? times + 1 : 0;
            if (performance.now() > deadline) throw new Error(`waited for too long: ${what}`);
        }
    }

    const verbs = {
        until,
        async ready() {
            modules.script = await import('/script.js');
            modules.groups = await import('/scripts/group-chats.js');
            modules.slash = await import('/scripts/slash-commands.js');
            modules.bookmarks = await import('/scripts/bookmarks.js');
            globalThis.jQuery.fx.off = true;
            await until('the model', () => context().onlineStatus !== 'no_connection');
        },
        modules,
        busy,
        idle: (seconds) => until('the end of a generation', () => !busy(), seconds),
        async open(name) {
            const index = context().characters.findIndex((one) => one.name === name);
            if (index < 0) throw new Error(`no such character: ${name}`);
            await context().selectCharacterById(index);
            await until(`the chat of ${name}`, () => String(context().characterId) === String(index)
                && context().chatId && !busy() && context().chatMetadata.integrity);
        },
        async newChat() {
            const before = context().chatId;
            for (let tries = 0; tries < 3; tries += 1) { // an API that is being left may keep it from a new chat
                await verbs.idle();
                if (context().chatId === before) await modules.script.doNewChat();
                const isThere = () => context().chatId !== before && context().chatMetadata.integrity && !busy();
                if (await until('another chat', isThere, 10).then(() => true, () => false)) return;
            }
            throw new Error(`no other chat: ${JSON.stringify([before, context().chatId, context().chatMetadata.integrity,
                busy(), document.querySelector('dialog[open]')?.textContent])}`);
        },
        async openChat(name) {
            const { groupId } = context();
            await (groupId ? context().openGroupChat(groupId, name) : context().openCharacterChat(name));
            await until(`the chat ${name}`, () => context().chatId === name && !busy());
        },
        async sent(before) {
            await until('the reply', () => !busy() && context().chat.length >= before + 2 && !context().chat.at(-1).is_user);
        },
        async swipe() {
            const last = context().chat.at(-1);
            const before = last.swipe_id ?? 0;
            await verbs.idle();
            globalThis.jQuery('.last_mes .swipe_right').last().trigger('click');
            await until('another swipe', () => !busy() && context().chat.at(-1).swipe_id !== before
                && context().chat.at(-1).mes !== '...');
        },
        async command(line) {
            const result = await context().executeSlashCommandsWithOptions(line, { handleParserErrors: false });
            if (result?.isError) throw new Error(result.errorMessage);
            return String(result?.pipe ?? '');
        },
        async edit(index, text) {
            const block = globalThis.jQuery(`#chat .mes[mesid="${index}"]`);
            block.find('.mes_edit').trigger('click');
            await until('the editor', () => document.querySelector('#curEditTextarea'));
            globalThis.jQuery('#curEditTextarea').val(text).trigger('input');
            block.find('.mes_edit_done').trigger('click');
            await until('the end of the edit', () => !document.querySelector('#curEditTextarea')
                && context().chat[index].mes === text);
        },
        async cut(index) {
            const before = context().chat.length;
            await verbs.command(`/cut ${index}`);
            await until('the cut', () => context().chat.length < before);
        },
        async rename(name) {
            const { chatId } = context();
            await verbs.command(`/renamechat ${name}`);
            await until('the new name', () => context().chatId === name && chatId !== name);
        },
        async branch(index) {
            const before = context().chatId;
            await modules.bookmarks.branchChat(index);
            await until('the branch', () => context().chatId !== before && context().chatMetadata.main_chat);
            return context().chatId;
        },
        async post(path, body) {
            const form = body instanceof FormData;
            const headers = context().getRequestHeaders(form ? { omitContentType: true } : undefined);
            if (form) delete headers['Content-Type'];
            const response = await fetch(path, { method: 'POST', headers, body: form ? body : JSON.stringify(body) });
            if (!response.ok) throw new Error(`${path}: ${response.status}`);
            return response.text();
        },
        async character(name) {
            if (context().characters.some((one) => one.name === name)) return;
            const form = new FormData();
            const fields = { ch_name: name, description: `${name} is terse.`, first_mes: `${name} nods.` };
            for (const [field, value] of Object.entries(fields)) form.append(field, value);
            await verbs.post('/api/characters/create', form);
            await context().getCharacters();
        },
        async group(names) {
            for (const name of names) await verbs.character(name);
            const members = names.map((name) => context().characters.find((one) => one.name === name).avatar);
            const made = JSON.parse(await verbs.post('/api/groups/create', {
                name: names.join(' and '), members, activation_strategy: 1, generation_mode: 0, avatar_url: '',
            }));
            await context().getCharacters();
            await modules.groups.openGroupById(made.id);
            await until('the group', () => context().groupId === made.id && context().chatId && !busy());
            return made.id;
        },
    };
    globalThis.tavernTest = verbs;
})();
