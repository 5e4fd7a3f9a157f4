/** Reading one snippet. */
import { part } from '../../turnfold.js';
import { turnfold } from '../server.js';

/** A snippet, and the tag that proves that it has not changed since. @param {string} chat @param {string} id
 *  @param {AbortSignal} [signal] @returns {Promise<{snippet: import('./snippet-words.js').Snippet, etag: string}>} */
export async function readSnippet(chat, id, signal) {
    const response = await turnfold.open('GET', `/chats/${part(chat)}/snippets/${part(id)}`, { signal });
    return { snippet: await response.json(), etag: response.headers.get('etag') ?? '' };
}
