/**
 * What the Summaryception extension and its forks leave behind, in this extension's words: the memory in a chat's
 * metadata, and settings. Pure; runs in Node too.
 *
 * @typedef {{id: string, text: string, note?: string, values: Record<string, any>}} Carried a setting that can be taken
 *   over: what it says, what was changed in it, and the settings that make it so
 * @typedef {{id: 'connection', text: string, note?: string, kind: 'main'|'profile'|'server', profile?: string,
 *   connection?: Record<string, any>}} Link who wrote the summaries
 */

import { FIELDS } from './fields.js';

/** Its numbers: their name there, what they are there at first, their name here. @type {[string, number, string][]} */
const NUMBERS = [
    ['verbatimTurns', 10, 'verbatim_turns'],
    ['turnsPerSummary', 3, 'turns_per_batch'],
    ['snippetsPerLayer', 30, 'snippets_per_layer'],
    ['snippetsPerPromotion', 3, 'snippets_per_promotion'],
    ['maxLayers', 5, 'max_layers'],
];
/** The id of the one setting that is the chat's own. */
export const PAUSE = 'pauseSummarization';
const OWN_STRIPS = ['<|channel>thought', '<channel|>', '<output>', '</output>', '<thinking>', '</thinking>'];
const OWN_WRAPPERS = [/^\s*\[[^[\]\n]*\{\{summary\}\}\]\s*$/u, /^\s*<summary>\s*\{\{summary\}\}\s*<\/summary>\s*$/u];
const MOST_PATTERNS = 100;
const LONGEST_PATTERN = 1000;
const LONGEST_PROMPT = 100_000;

/** @param {any} value @returns {Record<string, any>} */
const object = (value) => (value && typeof value === 'object' && !Array.isArray(value) ? value : {});
/** @param {any} value @returns {any[]} of a list, or of what some writers make of a list with holes */
const listed = (value) => (value && typeof value === 'object' ? Object.values(value) : []);
/** @param {any} bank */
const snippetsOf = (bank) => listed(object(bank).layers).flatMap(listed).filter(Boolean).length;

/** The memories in a store: its own, or one for each character card. @param {any} store */
const banks = (store) => [store, ...listed(object(store).memories), object(store).sharedMemory];

/**
 * How much memory there is in `chatMetadata.summaryception`.
 * @param {any} store @returns {{snippets: number, banks: number}}
 */
export function sizeOf(store) {
    const sizes = banks(store).map(snippetsOf).filter(Boolean);
    return { snippets: sizes.reduce((sum, size) => sum + size, 0), banks: sizes.length };
}

/**
 * The store as the server reads it: its places are those of the messages that the server has, and where a fork has ids
 * of its own for messages, they become ours.
 * @param {any} store @param {Map<string, string>} ids ours by theirs
 * @param {(place: number) => number} before how many messages the server has before a place in SillyTavern's chat
 */
export function translated(store, ids, before) {
    const copy = structuredClone(store);
    const ours = (/** @type {any} */ list) => (Array.isArray(list) ? list.map((id) => ids.get(id) ?? id) : list);
    const last = (/** @type {any} */ place) => (Number.isInteger(place) && place >= 0 ? before(place + 1) - 1 : place);
    for (const bank of banks(copy).filter((one) => one && typeof one === 'object')) {
        if ('summarizedUpTo' in bank) bank.summarizedUpTo = last(bank.summarizedUpTo);
        if (Array.isArray(bank.ghostedIndices)) bank.ghostedIndices = bank.ghostedIndices.map(last);
        if ('ghostedMessageIds' in bank) bank.ghostedMessageIds = ours(bank.ghostedMessageIds);
        for (const snippet of listed(bank.layers).flatMap(listed).map(object)) {
            const [from, to] = Array.isArray(snippet.turnRange) ? snippet.turnRange : [];
            if (Number.isInteger(from) && from >= 0 && from <= to) snippet.turnRange = [before(from), last(to)];
            if ('sourceMessageIds' in snippet) snippet.sourceMessageIds = ours(snippet.sourceMessageIds);
        }
    }
    return copy;
}

/**
 * Its settings that differ from what it comes with, and from what is in force on the server.
 * @param {any} theirs `extensionSettings.summaryception` @param {any} ours effective settings @returns {Carried[]}
 */
export function settingsOf(theirs, ours) {
    const given = object(theirs);
    const found = [...numbers(given), ...prompts(given), ...template(given), ...strips(given)];
    const layered = object(object(ours).layered);
    return [...found.filter(({ values }) => !same(values.layered, layered)), ...paused(given)];
}

/** @param {Record<string, any>} given @returns {Carried[]} */
function numbers(given) {
    return NUMBERS.flatMap(([key, usual, name]) => {
        const { label, range: [low, high] = [0, 0] } = /** @type {import('./fields.js').Field} */ (
            FIELDS.find(({ path }) => path === `layered.${name}`));
        const wanted = typeof given[key] === 'string' ? Number(given[key] || NaN) : given[key];
        if (!Number.isFinite(wanted) || wanted === usual) return [];
        const value = Math.min(Math.max(Math.round(wanted), low), high);
        const note = value === wanted ? undefined : `It says ${wanted}; ${low} to ${high} can be set.`;
        return [{ id: key, text: `${label}: ${value}`, note, values: { layered: { [name]: value } } }];
    });
}

/** Prompts are taken if they are the person's own. @param {Record<string, any>} given @returns {Carried[]} */
function prompts(given) {
    if (given.promptPreset === 'gamestate') {
        return [{ id: 'promptPreset', text: 'Prompts: game state', note: 'In Turnfold’s own words.',
            values: { layered: { preset: 'game_state' } } }];
    }
    if (given.promptPreset !== 'custom') return [];
    const user = text(given.summarizerUserPrompt);
    const system = text(given.summarizerSystemPrompt);
    const whole = user?.includes('{{story_txt}}');
    return [
        ...(user && whole ? [{ id: 'summarizerUserPrompt', text: `Your prompt for summaries: ${user}`,
            values: { layered: { preset: 'custom', user_prompt: user } } }] : []),
        ...(system ? [{ id: 'summarizerSystemPrompt', text: `Your system prompt for summaries: ${system}`,
            values: { layered: { preset: 'custom', system_prompt: system } } }] : []),
    ];
}

/** @param {Record<string, any>} given @returns {Carried[]} */
function template(given) {
    const wrapper = text(given.injectionTemplate);
    if (!wrapper?.includes('{{summary}}') || OWN_WRAPPERS.some((own) => own.test(wrapper))) return [];
    return [{ id: 'injectionTemplate', text: `What stands around the memory: ${wrapper}`,
        values: { layered: { injection_template: wrapper } } }];
}

/** Reasoning is taken out by the server itself. @param {Record<string, any>} given @returns {Carried[]} */
function strips(given) {
    const own = listed(given.stripPatterns).filter((one) => text(one) && !OWN_STRIPS.includes(one));
    const kept = own.filter((one) => one.length <= LONGEST_PATTERN).slice(0, MOST_PATTERNS);
    if (!kept.length) return [];
    const left = own.length - kept.length;
    const note = left ? `${left} of them are too long, or too many.` : undefined;
    return [{ id: 'stripPatterns', text: `Taken out of every summary: ${kept.join(' · ')}`, note,
        values: { layered: { strip_patterns: kept } } }];
}

/** @param {Record<string, any>} given @returns {Carried[]} */
const paused = (given) => (given.pauseSummarization === true
    ? [{ id: PAUSE, text: 'Folding stays paused in this chat', values: { paused: true } }] : []);

/**
 * Who wrote its summaries; null where it does not say, or not enough.
 * @param {any} theirs `extensionSettings.summaryception` @returns {Link|null}
 */
export function linkOf(theirs) {
    const given = object(theirs);
    const reads = /** @type {Record<string, () => Link|null>} */ ({
        default: () => ({ id: 'connection', text: 'SillyTavern’s own model writes the summaries', kind: 'main' }),
        profile: () => (text(given.connectionProfileId) ? { id: 'connection', kind: 'profile',
            profile: given.connectionProfileId,
            text: 'A connection profile of SillyTavern writes the summaries' } : null),
        ollama: () => elsewhere('ollama', given.ollamaUrl, given.ollamaModel, {}),
        openai: () => elsewhere('openai', given.openaiUrl, given.openaiModel, {
            api_key: text(given.openaiKey) ?? undefined,
            max_tokens: given.openaiMaxTokens > 0 ? Math.round(given.openaiMaxTokens) : undefined,
        }),
    });
    return Object.hasOwn(reads, given.connectionSource) ? reads[given.connectionSource]() : null;
}

/** @param {string} provider @param {any} url @param {any} model @param {any} more @returns {Link|null} */
function elsewhere(provider, url, model, more) {
    if (!text(url) || !text(model)) return null;
    const key = more.api_key ? ' (with its key)' : '';
    return { id: 'connection', kind: 'server', text: `${model} at ${url}${key} writes the summaries`,
        note: 'Turnfold’s server calls it itself, so the address is seen from there.',
        connection: { provider, base_url: url.trim(), model, ...more } };
}

/** @param {any} value @returns {string|null} null if it is no text, blank, or longer than a prompt may be */
const text = (value) => (typeof value === 'string' && value.trim() && value.length <= LONGEST_PROMPT ? value : null);

/** Whether all that is wanted is so already. @param {Record<string, any>} wanted @param {Record<string, any>} now */
const same = (wanted, now) => Object.entries(wanted)
    .every(([name, value]) => JSON.stringify(value) === JSON.stringify(now[name]));

/** Whether Summaryception marked a message as covered; some settings of it hide none. @param {any} message */
export const isMarkedThere = (message) => message.extra?.sc_ghosted === true;

/** Whether it hid a message in the file, and not a person. @param {any} message of SillyTavern */
export const isHiddenThere = (message) => message.is_system === true && isMarkedThere(message);
