/** npm run chaos -- --minutes M --server NAME [--seed S]: installs, builds what is out of date, and runs test/faults/campaign. */
import { runInForeground } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

await install();
await buildLibrary();
await buildTests();
// Without it no wall clock is set, and the report has no such faults.
const { bringFaketime } = await import('../test/support/servers/tools/faketime.mjs');
const faketime = await bringFaketime();
if ('file' in faketime) process.env.CRONLATCH_TEST_FAKETIME = faketime.file;
else
  console.error(
    [`${faketime.missing.name}: no wall clock will be set.`, ...faketime.missing.reasons].join('\n  '),
  );
runInForeground('.build/legacy/test/faults/campaign/main.js', ...process.argv.slice(2));
