/** The summarizer's prompts: which preset, the texts it is asked with, and what stands around the memory. */
import { html } from '../vendor/htm-preact.js';
import { Field, Section, written } from '../parts.js';
import { Control } from './control.js';

const PRESETS = [['narrative', 'Narrative'], ['game_state', 'Game state'], ['custom', 'My own']];
const WRAPPER = '<conversation_summary>\n{{summary}}\n</conversation_summary>';
const TEXTS = [
    ['system_prompt', 'System prompt', 'What the summarizer is told to be.'],
    ['user_prompt', 'Prompt for turns',
        'The question. {{story_txt}} is the passage, {{context_str}} what came before.'],
    ['merge_prompt', 'Prompt for merges', 'The question when snippets become one of the next layer.'],
];

/** The text that a preset asks with; what is missing of one's own is the first preset's.
 *  @param {any[]} presets @param {string} preset @param {string} name @returns {string} */
const textOf = (presets, preset, name) => (
    (presets.find((one) => one.name === preset) ?? presets[0])?.[name] ?? '');

/** @param {{given: (path: string) => any, presets: any[]}} props */
export function Prompts({ given, presets }) {
    const chosen = given('layered.preset');
    const preset = chosen.value ?? chosen.inherited;
    const focus = presets.find((one) => one.name === preset)?.focus;
    const template = given('layered.injection_template');
    const setting = {
        path: 'layered.preset', label: 'Preset', kind: 'choice', choices: PRESETS,
        hint: focus ? `Looks at ${focus}.` : 'Your own texts, below.',
    };
    /** What is written under a named preset makes all of what is seen one's own. @param {string} name
     *  @param {string} text */
    const onText = (name, text) => {
        given(`layered.${name}`).onChange(text);
        if (preset === 'custom') return;
        chosen.onChange('custom');
        const rest = TEXTS.map(([other]) => other).filter((other) => other !== name);
        for (const other of rest) given(`layered.${other}`).onChange(textOf(presets, preset, other));
    };
    /** @param {string[]} about */
    const text = ([name, label, hint]) => {
        const { value, error } = given(`layered.${name}`);
        return html`<${Field} key=${name} label=${label} hint=${hint} error=${error} as="textarea" rows="8"
            value=${(preset === 'custom' ? value : null) ?? textOf(presets, preset, name)}
            onInput=${written((now) => onText(name, now))} />`;
    };
    return html`<${Section} title="Prompts" about="What the summarizer is asked. A change makes the prompts your own.">
        <${Control} setting=${setting} connections=${[]} ...${chosen} />
        ${TEXTS.map(text)}
        <${Field} label="Around the memory" hint="{{summary}} is where the snippets stand." error=${template.error}
            as="textarea" rows="4" value=${template.value ?? WRAPPER} onInput=${written(template.onChange)} />
    </${Section}>`;
}
