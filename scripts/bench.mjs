/** npm run bench [-- --slices N --slice-ms N --only purge --rows N server …]: installs, builds what is out of date, and runs bench. */
import { runInForeground } from './run.mjs';
import { buildBench, install } from './set-up.mjs';

await install();
await buildBench();
runInForeground('.build/legacy/bench/main.js', ...process.argv.slice(2));
