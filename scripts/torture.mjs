/** npm run torture [-- --server NAME --row N]: installs, builds what is out of date, and runs test/faults/torture. */
import { runInForeground } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

await install();
await buildLibrary();
await buildTests();
runInForeground('.build/legacy/test/faults/torture/main.js', ...process.argv.slice(2));
