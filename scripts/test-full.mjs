/**
 * npm run test:full [part of a path …]: npm run package, and then npm test with all samples of the property
 * tests.
 */
import { run } from './run.mjs';

process.env.CRONLATCH_FULL = '1';
if (process.argv.length === 2) await run(process.execPath, ['scripts/package.mjs']);
await import('./test.mjs');
