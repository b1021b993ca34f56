/**
 * npm run test:full [part of a path …]: as npm test, and property tests try all that they can. All of it begins with
 * npm run package.
 */
import { run } from './run.mjs';

process.env.CRONLATCH_FULL = '1';
if (process.argv.length === 2) await run(process.execPath, ['scripts/package.mjs']);
await import('./test.mjs');
