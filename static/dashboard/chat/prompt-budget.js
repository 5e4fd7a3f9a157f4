/** How the budget of a prompt is shared: a bar, its figures, and what a prompt cache keeps. */
import { html } from '../vendor/htm-preact.js';
import { counted, number, percent } from '../format.js';
import { Note, Section } from '../parts.js';
import { beginning, shares } from './prompt-rows.js';

/** What changed a prompt's beginning, as docs/views.md has it. @type {Record<string, string>} */
const CAUSES = {
    system_prompt: 'the system prompt or an option', fold: 'a fold', memory: 'the memory’s text or place',
    trim: 'the budget, which dropped turns or let them back', edit: 'a change of the history',
};

/** @param {{projection: any, since: string}} props `since`: when the beginning was another, in words */
export function Budget({ projection, since }) {
    const { tokens, window } = projection;
    const parts = shares(tokens);
    const whole = Math.max(tokens.total, tokens.budget ?? 0);
    const over = tokens.budget !== null && tokens.total > tokens.budget;
    const said = tokens.budget === null ? `${counted(tokens.total, 'token')}; no window is known, so nothing is trimmed`
        : `${number(tokens.total)} of ${counted(tokens.budget, 'token')}, ${percent(tokens.total, tokens.budget)}`;
    return html`<${Section} title="Budget">
        <p class="budget-sum"><strong>${said}.</strong> ${counted(window.turns, 'turn')} word for
            word${window.dropped_turns > 0 && html`, ${number(window.dropped_turns)} left out by the budget`}.</p>
        ${over && html`<${Note} kind="warning">
            This is ${counted(tokens.total - tokens.budget, 'token')} more than the budget.</${Note}>`}
        <div class="budget-bar" role="img" aria-label=${`The prompt takes ${said}`}>
            ${parts.map(({ name, tokens: some }) => some > 0 && html`
                <span key=${name} class=${`share ${name}`} style=${{ flexGrow: some }}></span>`)}
        </div>
        <dl class="shares">${parts.map(({ name, label, tokens: some }) => html`<div key=${name}>
            <dt><span class=${`swatch share ${name}`} aria-hidden="true"></span>${label}</dt>
            <dd>${number(some)} <span class="quiet-text">${percent(some, whole)}</span></dd></div>`)}
        </dl>
        <${CacheLine} projection=${projection} since=${since} />
    </${Section}>`;
}

/** @param {{projection: any, since: string}} props */
const CacheLine = ({ projection, since }) => html`
    <p class="hint">A prompt cache can keep the first
        <strong> ${counted(beginning(projection.sent), 'token')}</strong>, until the next fold, merge,
        trim or change of history (<code title="prefix_hash">${projection.prefix_hash}</code>).
        ${projection.prefix_changed_by && html` Since ${since}, it was changed by
            ${CAUSES[projection.prefix_changed_by] ?? projection.prefix_changed_by}.`}</p>`;
