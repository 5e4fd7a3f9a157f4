/** The fields of a connection, between the form and the API. Pure. */

export const PROVIDERS = [
    ['openai', 'OpenAI-compatible server (llama.cpp, vLLM, LM Studio, OpenRouter, OpenAI …)'],
    ['ollama', 'Ollama'], ['client', "A frontend's own model (e.g. SillyTavern's)"],
    ['extractive', 'Built-in summarizer'],
];
/** What each provider needs of these. @type {Record<string, string[]>} */
export const NEEDED = {
    openai: ['base_url', 'model', 'api_key'], ollama: ['base_url', 'model'], client: ['model'], extractive: [],
};
export const ADDRESSES = /** @type {Record<string, string>} */ ({
    openai: 'http://127.0.0.1:8080/v1', ollama: 'http://127.0.0.1:11434',
});
/** @type {[string, string, string, string][]} name, label, hint, step */
export const FIGURES = [
    ['context_size', 'Window', 'Tokens the model reads at most. Known, prompts are cut to fit.', '1'],
    ['max_tokens', 'Longest answer', 'Tokens. Empty: as much as a summary may need.', '1'],
    ['temperature', 'Temperature', 'Empty: 0.3.', 'any'],
    ['timeout_s', 'Time-out', 'Seconds one attempt may take.', 'any'],
    ['concurrency', 'Calls at once', 'For all chats together.', '1'],
];
const SENT = [
    'provider', 'base_url', 'model', 'context_size', 'temperature', 'max_tokens', 'timeout_s', 'concurrency',
    'extra_body',
];

/** A connection's fields as texts, for a form. @param {any} [one] @returns {Record<string, string>} */
export function textsOf(one = { provider: 'openai' }) {
    const written = (/** @type {string} */ name) => [name, one[name] == null ? '' : String(one[name])];
    const texts = Object.fromEntries([...SENT, 'name'].map(written));
    const extra = Object.keys(one.extra_body ?? {}).length ? JSON.stringify(one.extra_body, null, 2) : '';
    return { ...texts, extra_body: extra, api_key: '' };
}

/** What a PUT is sent of a connection as the API shows it; its key stays. @param {any} one */
export const bodyOf = (one) => Object.fromEntries(
    SENT.filter((name) => one[name] != null).map((name) => [name, one[name]]));

/** What a PUT is sent of a form's texts. Without a key in it the stored one stays, unless it is to be removed.
 *  @param {Record<string, string>} texts @param {boolean} [forget] the key
 *  @throws {SyntaxError} extra_body is no JSON */
export function bodyOfTexts(texts, forget = false) {
    const body = /** @type {Record<string, any>} */ ({ provider: texts.provider });
    for (const name of ['base_url', 'model']) if (texts[name].trim()) body[name] = texts[name].trim();
    for (const [name] of FIGURES) if (texts[name].trim()) body[name] = Number(texts[name]);
    if (texts.extra_body.trim()) body.extra_body = JSON.parse(texts.extra_body);
    if (texts.api_key) body.api_key = texts.api_key;
    else if (forget) body.api_key = null;
    return body;
}

/** The field that a place in a body is about. @param {(string|number)[]} loc */
const fieldOf = (loc) => String(loc.find((step) => step !== 'body' && typeof step === 'string'));

/** What the API found wrong, by field. @param {any} error @returns {Record<string, string>} */
export const faultsOf = (error) => Object.fromEntries(
    (error?.errors ?? []).map((/** @type {any} */ one) => [fieldOf(one.loc), one.msg]));
