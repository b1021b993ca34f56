import { spawn } from 'node:child_process';

import { guard } from './guard.mjs';

/**
 * Starts a process that does not outlive this one. It leads its own process group, so that Ctrl-C in a
 * terminal does not reach it: its starter decides when it ends.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export function spawnGuarded(file, args, options = {}) {
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) child.once('exit', guard({ pid: child.pid }));
  return child;
}
