/** The server's settings that are numbers: what they are called here, and what it takes. Pure; runs in Node too. */

/**
 * @typedef {object} Field
 * @property {string} path of the setting, as in `layered.verbatim_turns`
 * @property {string} label
 * @property {string} hint
 * @property {[number, number]} [range] the server's own; without it the field is a switch
 * @property {string} [strategy] whose it is
 */

/** @type {Field[]} */
export const FIELDS = [
    { path: 'layered.verbatim_turns', label: 'Turns kept word for word', range: [1, 500], strategy: 'layered',
        hint: 'The newest turns are never folded.' },
    { path: 'layered.turns_per_batch', label: 'Turns in a snippet', range: [1, 50], strategy: 'layered',
        hint: 'How many turns become one snippet.' },
    { path: 'layered.snippets_per_layer', label: 'Snippets in a layer', range: [3, 500], strategy: 'layered',
        hint: 'A layer with more than these promotes its oldest.' },
    { path: 'layered.snippets_per_promotion', label: 'Snippets in a promotion', range: [2, 20], strategy: 'layered',
        hint: 'How many are merged into one of the next layer.' },
    { path: 'layered.max_layers', label: 'Layers', range: [1, 10], strategy: 'layered',
        hint: 'The deepest one keeps merging within itself.' },
    { path: 'rolling.keep_recent_turns', label: 'Turns kept word for word', range: [0, 512], strategy: 'rolling',
        hint: 'The newest turns are never folded.' },
    { path: 'rolling.max_summary_tokens', label: 'Tokens of the summary', range: [16, 1_000_000], strategy: 'rolling',
        hint: 'How long the one summary may become.' },
    { path: 'summary_buffer.max_messages_before_summary', label: 'Messages before a fold', range: [1, 100_000],
        strategy: 'summary_buffer', hint: 'With so many messages the older ones are folded.' },
    { path: 'summary_buffer.recent_messages_to_keep', label: 'Messages kept word for word', range: [0, 100_000],
        strategy: 'summary_buffer', hint: 'The newest messages that a fold leaves alone.' },
];
