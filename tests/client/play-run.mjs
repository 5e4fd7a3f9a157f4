/** The play in Node, as it lies here or bundled; prints what came of it. */

import * as client from '../../static/turnfold.js';
import { play } from './play.mjs';

console.log(JSON.stringify(await play(client, process.env.SERVER ?? '', process.env.KEY)));
