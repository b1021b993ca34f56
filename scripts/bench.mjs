/** npm run bench [-- part… server… option…]: installs, builds what is out of date, and runs bench. See bench/README.md. */
import { runInForeground } from './run.mjs';
import { buildBench, install } from './set-up.mjs';

await install();
await buildBench();
runInForeground('.build/legacy/bench/main.js', ...process.argv.slice(2));
