/** The demo's story: how its file is read, what chat it becomes, and how fast it is played. */

export const STORY = '/static/demo/story.jsonl';
export const DEMO_ID = 'dry-mail-demo';
export const TURNS = 163; // that the story has, the greeting among them
export const LENGTH_MS = 20_000; // that playing it takes
const MOST_AT_ONCE = 12; // turns in one call, so that playing can be stopped

/** @typedef {{id: string, role: 'user'|'assistant', name: string, content: string}} Line */

/** What the chat is made with: memory by the built-in summarizer, whatever the server's default is, and layers of 8
 *  snippets instead of 30, so that the story fills three of them. */
export const FIELDS = {
    title: 'The Dry Mail', user_name: 'Juno', character_name: 'Captain Osk', strategy: 'layered',
    settings: {
        connection: 'extractive', merge_connection: 'extractive', fallback_connection: 'extractive',
        enabled: true, paused: false, on_backlog: 'all',
        layered: { verbatim_turns: 10, turns_per_batch: 3, snippets_per_layer: 8, snippets_per_promotion: 3 },
    },
};

/** Whether a chat is the demo, or the demo played again. @param {string} id */
export const isDemo = (id) => id === DEMO_ID || id.startsWith(`${DEMO_ID}-`);

/** The turns of a story, each ending with a reply. Ids are the story's own, so that a line sent twice is stored once.
 *  @param {string} text a chat file of SillyTavern @returns {Line[][]} */
export function turnsOf(text) {
    const lines = text.split('\n').filter((line) => line.trim()).map((line) => JSON.parse(line));
    /** @type {Line[][]} */
    const turns = [[]];
    lines.filter((line) => 'mes' in line).forEach(({ name, is_user: isUser, mes: content }, index) => {
        turns[turns.length - 1].push({ id: `line-${index + 1}`, role: isUser ? 'user' : 'assistant', name, content });
        if (!isUser) turns.push([]);
    });
    return turns.filter((turn) => turn.length);
}

/** How many turns are due after so long.
 *  @param {number} ms since the last ones were @param {number} turns of the story */
export const due = (ms, turns) => Math.min(MOST_AT_ONCE, Math.max(1, Math.floor((ms * turns) / LENGTH_MS)));
