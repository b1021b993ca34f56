/**
 * npm run pictures: installs, builds what is out of date, and draws the pictures of the dashboard in docs/images. With
 * -- --serve it prints the address of the sample that they show, and serves it until it is ended, on PORT if that is set.
 */
import { runInForeground } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

await install();
await buildLibrary();
await buildTests();
if (!process.argv.includes('--serve')) {
  const { bringChromium } = await import('../test/support/servers/tools/chromium.mjs');
  const { MissingServerError } = await import('../test/support/servers/errors.mjs');
  const chromium = await bringChromium();
  if ('missing' in chromium) {
    console.error(new MissingServerError([chromium.missing]).message);
    process.exit(1);
  }
  process.env.CRONLATCH_TEST_CHROMIUM = JSON.stringify(chromium);
}
runInForeground('.build/legacy/test/support/pictures/main.js');
