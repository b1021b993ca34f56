/**
 * One job and any number of processes: at each tick, one process runs the job. Plain JavaScript, without decorators.
 *
 * A copy of this file in another folder needs: npm install cronlatch node-cron better-sqlite3 (on Node 20: better-sqlite3@12).
 *
 * Run, after `npm run build`, in two terminals: node examples/hello.mjs
 * Prints at its start, and at each tick in one of the terminals:
 *   cronlatch … guards 1 job on …: greet ….
 *   Hello from process …
 *   cronlatch … run:completed: job 'greet' completed in … (scheduled at …).
 */
import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';
import { scheduleLocked } from 'cronlatch/node-cron';

await createTables('sqlite:hello.db'); // Creates the file and the tables, if they are missing.
const guard = await createJobGuard('sqlite:hello.db');
guard.closeOnSignals(); // On Ctrl-C, a running job may end, and its lock is released.

const lock = { name: 'greet', lockAtMostFor: '1m', lockAtLeastFor: '1s' };
scheduleLocked('*/2 * * * * *', lock, () => console.log(`Hello from process ${process.pid}`), { guard });
