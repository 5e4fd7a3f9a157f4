/** The settings people can change, group by group: their place, what they are called, and what they do. Pure data. */

/**
 * `kind`: number, switch, choice, text, words, connection, list. `strategy`: of this one alone.
 * @typedef {{path: string, label: string, hint: string, kind: string, choices?: string[][],
 *   placeholder?: string}} Setting
 * @typedef {{title: string, about: string, strategy?: string, settings: Setting[]}} Group
 */

/** @param {string} path @param {string} label @param {string} hint @param {string} [kind] @param {any} [more] */
const setting = (path, label, hint, kind = 'number', more = {}) => ({ path, label, hint, kind, ...more });

/** @type {Group} */
const GENERAL = {
    title: 'Memory', about: 'Who writes the summaries, and what becomes of them.', settings: [
        setting('enabled', 'Remember', 'Off: no memory at all; every message is sent.', 'switch'),
        setting('ghosting', 'Leave out what is summarized', 'Off: every message is sent, and no memory is.', 'switch'),
        setting('on_backlog', 'An old chat', 'Whether it asks before it folds.', 'choice',
            { choices: [['ask', 'asks first'], ['all', 'folds at once']] }),
        setting('on_refused', 'Turns a model refuses again and again', 'Nothing of them is lost either way.', 'choice',
            { choices: [['extract', 'go to the built-in summarizer'], ['wait', 'wait, word for word']] }),
        setting('connection', 'Connection', 'Who writes the summaries.', 'connection'),
        setting('merge_connection', 'Connection for merges', 'Merges are rarer and harder. Empty: the same one.',
            'connection'),
        setting('fallback_connection', 'Connection when that fails', 'What it writes is marked as degraded.',
            'connection'),
        setting('output_language', 'Language of the summaries', 'auto: the language of the chat.', 'text'),
    ],
};

/** @type {Group} */
const PROMPT = {
    title: 'In the prompt', about: 'Where the memory stands, and how the prompt says who speaks.', settings: [
        setting('memory_placement', 'Place of the memory',
            'system_end, system_message, user_message, or in_chat:DEPTH.', 'text', { placeholder: 'system_end' }),
        setting('memory_share', 'Share of the budget', 'From 0 to 1: the most that memory may take.', 'number'),
        setting('names', 'Names', 'How the prompt says who speaks.', 'choice',
            { choices: [['auto', 'with three or more speakers'], ['none', 'not at all'], ['field', 'in the field name'],
                ['prefix', 'before the text']] }),
    ],
};

/** @type {Group} */
const LAYERED = {
    title: 'Layers', strategy: 'layered', about: 'How turns become snippets, and snippets one of the next layer.',
    settings: [
        setting('layered.verbatim_turns', 'Turns word for word', 'The newest turns never fold.'),
        setting('layered.turns_per_batch', 'Turns in a snippet', 'More: fewer calls, coarser memory.'),
        setting('layered.flush_turns', 'Turns that start a fold',
            'Over the window. More: the prompt begins the same for longer, which a prompt cache likes.'),
        setting('layered.snippets_per_layer', 'Snippets in a layer', 'More: finer and larger memory.'),
        setting('layered.snippets_per_promotion', 'Snippets merged into one', 'When a layer is full.'),
        setting('layered.max_layers', 'Layers', 'How many there may be.'),
        setting('layered.deepest_layer', 'A full deepest layer', 'What it does.', 'choice',
            { choices: [['merge', 'merges its own oldest'], ['keep', 'grows without end']] }),
        setting('layered.window', 'Window', 'strict keeps the whole window; compat does as the original.', 'choice',
            { choices: [['strict', 'strict'], ['compat', 'compat']] }),
        setting('layered.snippet_tokens', 'Tokens in a snippet', 'At most.'),
        setting('layered.passage_tokens', 'Tokens summarized at once', 'A batch over it takes fewer turns.'),
        setting('layered.context_tokens', 'Memory the summarizer sees', 'In tokens. 0: all of it.'),
        setting('layered.memory_tokens', 'Tokens of memory', 'Over it, memory is merged further. 0: no limit.'),
        setting('layered.verbatim_tokens', 'Tokens that may wait', 'Outside the window. 0: no limit.'),
        setting('layered.backlog_concurrency', 'Calls at once', 'While an old chat folds. More: sooner done.'),
    ],
};

/** @type {Group} */
const ROLLING = {
    title: 'Rolling memory', strategy: 'rolling', about: 'One summary, written anew as the chat goes on.', settings: [
        setting('rolling.trigger_tokens', 'Tokens that start a fold', 'Of turns not summarized yet. 0: off.'),
        setting('rolling.trigger_turns', 'Turns that start a fold', '0: off.'),
        setting('rolling.keep_recent_turns', 'Turns word for word', 'The newest turns never fold.'),
        setting('rolling.max_summary_tokens', 'Tokens of the summary', 'At most.'),
        setting('rolling.oversize', 'A turn that is too long', 'For the window of the summarizer.', 'choice',
            { choices: [['stop', 'stops the folding'], ['clip', 'loses its middle']] }),
        setting('rolling.catch_up', 'Catch up', 'Fold on until nothing is due.', 'switch'),
        setting('rolling.context_size', 'Window of the summarizer', 'In tokens.'),
        setting('rolling.system_prompt', 'System prompt', 'Empty: our own.', 'words'),
        setting('rolling.template', 'Template', 'Mustache. Empty: our own.', 'words'),
    ],
};

/** @type {Group} */
const BUFFER = {
    title: 'Summary buffer', strategy: 'summary_buffer', about: 'One summary, made before an answer.', settings: [
        setting('summary_buffer.max_messages_before_summary', 'Messages that start a fold', 'When so many are there.'),
        setting('summary_buffer.recent_messages_to_keep', 'Messages word for word', 'The newest.'),
        setting('summary_buffer.compare', 'It folds when that number', '', 'choice',
            { choices: [['reach', 'is reached'], ['exceed', 'is exceeded']] }),
        setting('summary_buffer.scope', 'What it remembers', '', 'choice',
            { choices: [['thread', 'the chat'], ['session', 'each session'], ['call', 'each call alone']] }),
        setting('summary_buffer.timeout_s', 'Seconds an answer waits', 'For a fold.'),
        setting('summary_buffer.max_summary_tokens', 'Tokens of the summary', 'At most.'),
    ],
};

/** The groups that a strategy has use of; all of them without one. @param {string|null} strategy @returns {Group[]} */
export const groupsOf = (strategy) => [GENERAL, PROMPT, LAYERED, ROLLING, BUFFER].filter(
    (group) => !group.strategy || strategy === null || group.strategy === strategy);
