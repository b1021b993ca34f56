/** Kills the container that runs import-prices, as a crash does: no handler of the process runs. */
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { createJobGuard } from 'cronlatch/pg';

const guard = await createJobGuard(process.env.DATABASE_URL, { logger: false });
let lock;
while (!lock?.isHeld) {
  await setTimeout(200);
  lock = await guard.locks.inspect('import-prices');
}
const [container] = lock.lockedBy.split('/'); // Host name, process and acquisition.
execFileSync('docker', ['kill', container]);
console.log(`killed ${container}, whose lease ends at ${lock.lockUntil.toISOString()}`);
await guard.close();
