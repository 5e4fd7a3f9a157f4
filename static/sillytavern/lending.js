/**
 * Asks a model of SillyTavern's for Turnfold: the given messages and nothing else go to it, and no setting of
 * SillyTavern's is touched.
 *
 * `generateRaw` is not used where it can be helped: it lays its length over the user's settings while it runs, puts
 * macros and scripts of the user's to work on the text, and cannot be cut in every version. SillyTavern builds the
 * request, as for a quiet generation of its own, and it is sent from here.
 */

import { context, internals } from './host.js';
import { failed, Refusal } from './refusal.js';

/**
 * @typedef {{messages: {role: string, content: string}[], system_prompt: string, prompt: string,
 *   max_tokens: number|null, temperature: number|null}} Asked what the server asks, of `GET /v1/client-calls`
 * @typedef {{text: string, model?: string, finish_reason?: string}} Answer
 */

// They stand where the texts go, so that what SillyTavern does to a prompt (macros) is not done to them.
const SYSTEM = '\u{e000}system\u{e000}';
const PASSAGE = '\u{e000}passage\u{e000}';
const ROOM_TOKENS = 1024;

/**
 * Throws a Refusal, or whatever else came in between; the generation is cut with `signal`, if its API can be cut.
 * @param {Asked} call @param {{kind: string, profile: string}} source @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function ask(call, source, signal) {
    if (source.kind === 'profile') return askProfile(call, source.profile, signal);
    const api = context().mainApi;
    if (api === 'openai') return send(api, await chatRequest(call), signal);
    if (api === 'textgenerationwebui') return send(api, await textRequest(call), signal);
    return askRaw(call);
}

/**
 * SillyTavern's own request of a quiet generation, caught on its way out: it is cut before it is sent. Whether other
 * extensions listen there does not matter, we are the first.
 * @param {Asked} call
 */
async function chatRequest(call) {
    const { eventSource, eventTypes } = context();
    const { sendOpenAIRequest } = await internals('scripts/openai.js');
    const ours = call.messages.map((message) => ({ ...message }));
    const cut = new AbortController();
    /** @type {Record<string, any>|null} */
    let request = null;
    const take = (/** @type {any} */ data) => {
        if (!data.messages?.includes(ours[0])) return;
        request = structuredClone(data);
        cut.abort();
    };
    eventSource.makeFirst(eventTypes.CHAT_COMPLETION_SETTINGS_READY, take);
    try {
        await sendOpenAIRequest('quiet', ours, cut.signal);
    } catch (cause) {
        if (!request) throw cause;
    } finally {
        eventSource.removeListener(eventTypes.CHAT_COMPLETION_SETTINGS_READY, take);
    }
    return plain(/** @type {any} */ (request), call);
}

/**
 * Tokens for the answer: what the server asks for leaves room to think, more than some APIs allow; what the user set
 * for replies is known to be taken.
 * @param {Asked} call @param {number} own the user's
 */
const roomOf = (call, own) => Math.min(call.max_tokens ?? own, Math.max(own, ROOM_TOKENS));

/** The request without what is meant for a play. @param {Record<string, any>} request @param {Asked} call */
function plain(request, call) {
    const { stop, stopping_strings, logit_bias, logprobs, banned_strings, custom_token_bans, ...rest } = request;
    const room = 'max_completion_tokens' in rest ? 'max_completion_tokens' : 'max_tokens';
    rest[room] = roomOf(call, rest[room]);
    if (call.temperature != null && 'temperature' in rest) rest.temperature = call.temperature;
    return { ...rest, stream: false };
}

/**
 * The user's template for instructions stays, with its ends; names and strings that end the replies of a play do not.
 * @param {Asked} call
 */
async function textRequest(call) {
    const { amount_gen: length, createRawPrompt } = await internals('script.js');
    const { getTextGenGenerationData } = await internals('scripts/textgen-settings.js');
    const { getInstructStoppingSequences } = await internals('scripts/instruct-mode.js');
    const raw = createRawPrompt(passage(), 'textgenerationwebui', false, false, call.system_prompt && SYSTEM, '');
    const prompt = filled(raw, call);
    const request = await getTextGenGenerationData(prompt, roomOf(call, length), false, false, null, 'quiet');
    const ends = getInstructStoppingSequences();
    return { ...plain(request, call), prompt, stop: ends, stopping_strings: ends };
}

const passage = () => [{ role: 'user', name: '', content: PASSAGE }];

/** @param {string} template @param {Asked} call */
const filled = (template, call) => template
    .replace(SYSTEM, () => call.system_prompt)
    .replace(PASSAGE, () => call.prompt);

/** @param {string} api @param {Record<string, any>} request @param {AbortSignal} signal @returns {Promise<Answer>} */
async function send(api, request, signal) {
    const script = await internals('script.js');
    const url = api === 'openai' ? '/api/backends/chat-completions/generate' : script.getGenerateUrl(api);
    const init = { method: 'POST', headers: context().getRequestHeaders(), body: JSON.stringify(request), signal };
    const response = await fetch(url, init);
    const told = await response.json().catch(() => null);
    if (!response.ok || !told || told.error) throw failed(told, response.status);
    const { finish_reason: end } = told.choices?.[0] ?? {};
    return answer(context().extractMessageFromData(told, api), { model: told.model, finish_reason: end });
}

/** Only a real text is an answer. @param {unknown} text @param {Record<string, unknown>} [more] @returns {Answer} */
function answer(text, more = {}) {
    if (typeof text !== 'string' || !text.trim()) throw new Refusal("SillyTavern's model answered without a text.");
    return { text, ...Object.fromEntries(Object.entries(more).filter(([, one]) => typeof one === 'string' && one)) };
}

/** The profile's samplers and template are its own; prompts of its preset do not come along. @param {Asked} call
 *  @param {string} profile its id @param {AbortSignal} signal */
async function askProfile(call, profile, signal) {
    const { ConnectionManagerRequestService: service, chatCompletionSettings: main } = context();
    const length = roomOf(call, main.openai_max_tokens);
    const how = { stream: false, extractData: true, includePreset: true, includeInstruct: true, signal };
    const more = call.temperature == null ? {} : { temperature: call.temperature };
    const messages = call.messages.map((message) => ({ ...message }));
    const said = await service.sendRequest(profile, messages, length, how, more).catch((/** @type {any} */ error) => {
        if (signal.aborted) throw error;
        throw failed(error.cause ?? error, 0);
    });
    return answer(said?.content);
}

/**
 * KoboldAI, Horde and NovelAI: through `generateRaw`, with the user's own length. It cannot be cut, and in versions
 * that have no `generateRawData` the user's scripts change the answer.
 * @param {Asked} call
 */
async function askRaw(call) {
    const { eventSource, eventTypes, extractMessageFromData, generateRaw, generateRawData, mainApi } = context();
    const fill = (/** @type {any} */ data) => { data.prompt = filled(data.prompt, call); };
    eventSource.makeFirst(eventTypes.GENERATE_AFTER_COMBINE_PROMPTS, fill);
    try {
        const asked = { prompt: passage(), systemPrompt: call.system_prompt && SYSTEM, trimNames: false };
        if (!generateRawData) return answer(await generateRaw(asked));
        return answer(extractMessageFromData(await generateRawData(asked), mainApi));
    } catch (error) {
        throw failed(error, 0);
    } finally {
        eventSource.removeListener(eventTypes.GENERATE_AFTER_COMBINE_PROMPTS, fill);
    }
}
