import { existsSync, readFileSync } from 'node:fs';

/**
 * Kills a process group, and the children of its leader that have groups of their own, as those of PostgreSQL
 * do: a busy child would not notice for a long time that its server has gone.
 *
 * @param {number} leader
 */
export function killAll(leader) {
  for (const id of [-leader, ...childrenOf(leader)]) {
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  }
}

/** Only Linux lists them. */
function childrenOf(/** @type {number} */ pid) {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}
