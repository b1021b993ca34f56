/** npm run check: format, prose, types in both kinds of decorators, lint, and the public API as its reports show it. */
import { run } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

const node = (...args) => run(process.execPath, args);

await install();
await node('node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.');
await node('scripts/prose.mjs');
await buildLibrary();
await buildTests();
await node('node_modules/eslint/bin/eslint.js', '--max-warnings=0', '.');
await node('scripts/api.mjs', '--check');
console.log('check: formatted, typed, linted, in plain words, and no public API changed without its report');
