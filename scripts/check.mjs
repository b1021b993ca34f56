/** npm run check: format, prose, types in both kinds of decorators, lint, reports of the public API, unused code. */
import { run } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

const node = (...args) => run(process.execPath, args);

await install();
await node('node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.');
await node('scripts/prose.mjs');
await node('scripts/words.mjs');
await buildLibrary();
await buildTests();
await node('node_modules/eslint/bin/eslint.js', '--max-warnings=0', '.');
await node('scripts/api.mjs', '--check');
await node('node_modules/knip/bin/knip.js', '--no-progress');
console.log(
  'check: formatted, in plain words, typed and linted; the public API is as reported; nothing is unused',
);
