// Prints a SillyTavern chat's file as the extension sends it: node history.mjs FILE
import { readFileSync } from 'node:fs';

import { identify, toHistory } from '../../static/sillytavern/history.js';

const lines = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const messages = lines.filter((line) => 'mes' in line || 'swipes' in line);
identify(messages);
process.stdout.write(JSON.stringify(toHistory(messages).lines));
