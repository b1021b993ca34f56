/** npm run demo [-- --without-lock]: installs, builds what is out of date, and runs npx cronlatch demo. */
import { runInForeground } from './run.mjs';
import { buildLibrary, install } from './set-up.mjs';

await install();
await buildLibrary();
runInForeground('dist/cli/main.js', 'demo', ...process.argv.slice(2));
