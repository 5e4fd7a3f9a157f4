/** The home page before there is a chat: what this is, and three ways in. */
import { html } from '../vendor/htm-preact.js';
import { Section } from '../parts.js';
import { ChooseFiles } from './arrivals.js';
import { DemoButton } from './demo.js';
import { Frontends } from './frontends.js';

const Bands = () => html`<div class="sediment" aria-hidden="true">${['now', 0, 1, 2, 3].map((layer) => html`
    <span class=${`sediment-${layer}`}></span>`)}</div>`;

export const FirstRun = () => html`
    <div class="first">
        <div class="first-words">
            <h1>A long chat, remembered</h1>
            <p>Turnfold keeps the newest turns of a chat word for word and folds the older ones into short summaries,
                in layers, as sediment becomes stone. The model is sent the summaries and the newest turns, so that the
                prompt keeps its size however long the chat grows. Nothing is lost: every message stays stored, and
                below each summary stands what it was made of.</p>
        </div>
        <${Bands} />
    </div>
    <div class="columns ways-in">
        <${Section} title="Watch it work">
            <p>A story of 163 turns (a turn is a message and its reply) is played before your eyes in about twenty
                seconds. Its summaries come from the built-in summarizer: no model is called.</p>
            <${DemoButton} kind="primary" text="Play the demo story" />
        </${Section}>
        <${Section} title="Bring a chat">
            <p>Drop a chat file of SillyTavern anywhere on this page, or choose one; OpenAI messages and exports from
                here are read as well. Before a long one is folded, you are asked.</p>
            <${ChooseFiles} kind="primary" text="Choose chat files" />
        </${Section}>
    </div>
    <${Section} title="Connect a frontend" about="Chats then come here by themselves, and this page shows them.">
        <${Frontends} />
    </${Section}>`;
