/** npm run demo [-- --without-lock]: installs, builds what is out of date, and runs examples/demo. */
import { runInForeground } from './run.mjs';
import { buildExamples, install } from './set-up.mjs';

await install();
await buildExamples();
runInForeground('.build/legacy/examples/demo/main.js', ...process.argv.slice(2));
