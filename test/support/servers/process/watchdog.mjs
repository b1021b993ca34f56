/**
 * Started by guard.mjs, whose comment explains why. Reads lines `[id, guarded]` and `[id]` until the pipe
 * closes.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { killAll } from './kill-all.mjs';

/** @type {Map<number, import('./guard.mjs').Guarded>} */
const guarded = new Map();

for await (const line of createInterface({ input: process.stdin })) {
  const [id, what] = JSON.parse(line);
  if (what) guarded.set(id, what);
  else guarded.delete(id);
}

// Processes first: a running server would write into the folder while it is being removed.
for (const { pid } of guarded.values()) if (pid) killAll(pid);
for (const { command } of guarded.values())
  if (command) spawnSync(command[0], command.slice(1), { stdio: 'ignore' });
for (const { folder } of guarded.values()) if (folder) removeFolder(folder);

function removeFolder(/** @type {string} */ folder) {
  // The killed server may still write: then the folder is not empty when its entries are gone, and is removed
  // again.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
