/** Lines to copy into a frontend, with the server's own address in them. Pure. */

/** For a shell. @param {string} server its address @param {boolean} locked whether it wants a key */
export function curlLines(server, locked) {
    const key = locked ? ` \\\n  -H "Authorization: Bearer $TURNFOLD_API_KEY"` : '';
    return `# After each reply: what was said
curl -s ${server}/v1/chats/harbour/messages${key} \\
  -H 'Content-Type: application/json' -d '{
  "messages": [
    {"role": "user", "name": "Mira", "content": "Is the ferry still running?"},
    {"role": "assistant", "name": "Tom", "content": "Not since the storm, he says."}
  ]}'

# Before each reply: what to send to the model
curl -s '${server}/v1/chats/harbour/projection?context_size=8192'${key}
`;
}

/** For a page, or for Node with a copy of the file. @param {string} server @param {boolean} locked */
export const scriptLines = (server, locked) => `import { Turnfold } from '${server}/static/turnfold.js';

const turnfold = new Turnfold({ server: '${server}'${locked ? ", key: 'the key'" : ''} });
const chat = turnfold.chat('harbour');

// After each reply: what was said
await chat.append([
    { role: 'user', name: 'Mira', content: 'Is the ferry still running?' },
    { role: 'assistant', name: 'Tom', content: 'Not since the storm, he says.' },
]);

// Before each reply: what to send to the model
const { messages } = await chat.project({ context_size: 8192 });
console.log(messages);
`;

/** For SillyTavern on the same machine, in Turnfold's folder. */
export const TAVERN_LINE = 'scripts/sillytavern-extension ~/SillyTavern/data/default-user/extensions/turnfold';
