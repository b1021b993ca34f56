/**
 * What a test run has started must end with it, however it ends: by itself, by Ctrl-C, by SIGTERM, by an uncaught
 * exception, by SIGKILL. For the last one no handler can be installed, so there is none for the others either: a second
 * process, the watchdog, holds one end of a pipe whose other end only this process has. The pipe closes when this
 * process is gone, and the watchdog ends what is still in its care. So the signal handlers of the program that uses
 * these servers stay its own affair.
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
    // A session of its own, or Ctrl-C in a terminal would end the watchdog together with us.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    // Loaders and coverage of the tests are not meant for it.
    env: { ...process.env, NODE_OPTIONS: undefined, NODE_V8_COVERAGE: undefined },
  });
  // It must neither keep this process alive nor, should someone end it, break the tests.
  watchdog.unref();
  /** @type {import('node:net').Socket} */ (watchdog.stdin).unref();
  watchdog.on('error', () => {});
  watchdog.stdin.on('error', () => {});
  return watchdog.stdin;
}
