/**
 * Everything that a test run has started must end with it, however it ends: normally, by Ctrl-C, by SIGTERM,
 * by an uncaught exception, by SIGKILL. No handler can be installed for SIGKILL, so there is none for the
 * others either: a second process, the watchdog, holds one end of a pipe whose other end only this process
 * has. The pipe closes when this process has ended, and the watchdog then ends everything in its care. So the
 * program that uses these servers keeps its own signal handlers.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** @typedef {{ pid?: number, command?: string[], folder?: string }} Guarded `pid` leads a process group of its own. */

/** @type {import('node:stream').Writable | undefined} */
let pipe;
let lastId = 0;

/**
 * Puts something into the watchdog's care; the returned function takes it out again.
 *
 * @param {Guarded} guarded
 */
export function guard(guarded) {
  const to = (pipe ??= startWatchdog());
  const id = ++lastId;
  to.write(`${JSON.stringify([id, guarded])}\n`);
  return () => void to.write(`${JSON.stringify([id])}\n`);
}

function startWatchdog() {
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL('watchdog.mjs', import.meta.url))], {
    // A session of its own, or Ctrl-C in a terminal would end the watchdog together with this process.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    // Loaders and coverage of the tests are not intended for it.
    env: { ...process.env, NODE_OPTIONS: undefined, NODE_V8_COVERAGE: undefined },
  });
  // It must neither keep this process alive nor break the tests if another process ends it.
  watchdog.unref();
  /** @type {import('node:net').Socket} */ (watchdog.stdin).unref();
  watchdog.on('error', () => {});
  watchdog.stdin.on('error', () => {});
  return watchdog.stdin;
}
