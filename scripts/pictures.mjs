/**
 * npm run pictures -- --serve: installs, builds what is out of date, fills a database with the sample that the pictures of the
 * dashboard show, and serves it until it is ended, on PORT if that is set.
 */
import { runInForeground } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

await install();
await buildLibrary();
await buildTests();
runInForeground('.build/legacy/test/support/pictures/main.js', ...process.argv.slice(2));
