/** What SillyTavern's models and their APIs fail with, as the server wants to know it. */

const WORDS = new Map(Object.entries({
    'bad request': 400,
    'unauthorized': 401,
    'payment required': 402,
    'forbidden': 403,
    'not found': 404,
    'request timeout': 408,
    'too many requests': 429,
    'internal server error': 500,
    'bad gateway': 502,
    'service unavailable': 503,
    'gateway timeout': 504,
}));

/** A model's refusal. `status`: of its API, where it is known. */
export class Refusal extends Error {
    /** @param {string} message @param {number} [status] */
    constructor(message, status) {
        super(message);
        this.status = status;
    }

    /** As `POST /v1/client-calls/{id}` takes it. */
    told() {
        return { message: this.message.slice(0, 1000), ...(this.status && { status: this.status }) };
    }
}

/**
 * A Refusal of what SillyTavern said. Its server answers 200 and words for most failures of an API; the words are then
 * those of the status (`Too Many Requests`).
 * @param {any} told an error, or the body of an answer @param {number} status of SillyTavern's server; 0: none is known
 */
export function failed(told, status) {
    if (told instanceof Refusal) return told;
    const inner = told?.error;
    const message = [inner?.message, told?.message, told?.response, inner].find((one) => typeof one === 'string' && one)
        ?? 'the API of SillyTavern failed, and did not say why';
    const statuses = [inner?.status, inner?.code, told?.status, WORDS.get(message.trim().toLowerCase()), status];
    return new Refusal(message, statuses.map(Number).find((one) => one >= 400 && one < 600));
}
