/** The server's address and key, the test of both, and the ways to the dashboard. */

import { element } from './dom.js';
import { busy, find, partOf, pictured } from './panel-parts.js';
import { probe } from './panel-probe.js';
import { save, settings } from './settings.js';

/** @param {ParentNode} root @param {() => void} moved called when another server, or key, is meant */
export function serverSection(root, moved) {
    const [address, key, finding] = [find(root, '#tf-server'), find(root, '#tf-key'), partOf(root, 'finding')];
    address.value = settings().server;
    key.value = settings().key;
    const test = pictured('fa-plug', 'Test', () => busy(test, () => tell(finding)));
    const open = () => window.open(settings().server, '_blank', 'noopener');
    const title = 'Turnfold\'s own page, in a new tab';
    const dashboard = pictured('fa-arrow-up-right-from-square', 'Dashboard', open, { title });
    partOf(root, 'server-buttons').append(test, dashboard);
    for (const [field, name] of [[address, 'server'], [key, 'key']]) {
        field.addEventListener('change', () => {
            if (settings()[name] === field.value.trim()) return;
            settings()[name] = field.value.trim();
            save();
            moved();
            void busy(test, () => tell(finding));
        });
    }
}

/** @param {any} finding where to tell it */
async function tell(finding) {
    finding.replaceChildren('Asking…');
    const { server, key } = settings();
    const found = await probe(server, key);
    const todo = found.ok ? await differs(found.version ?? '') : found.todo;
    finding.className = `tf-note ${found.ok ? 'tf-good' : 'tf-bad'}`;
    finding.replaceChildren(found.text, ...(todo ? [element('br'), todo] : []));
}

/** @param {string} version the server's @returns {Promise<string>} what to do if this extension is of another one */
async function differs(version) {
    const { version: own } = await fetch(new URL('./manifest.json', import.meta.url)).then((read) => read.json());
    const [ours, theirs] = [own, version].map((one) => one.split('.').slice(0, 2).join('.'));
    return ours === theirs ? '' : `This extension is of version ${own}. Update the older of the two.`;
}
