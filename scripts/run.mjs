import { spawn } from 'node:child_process';

/**
 * Runs a command with the terminal's own streams. If it fails, ends this process with the command's status.
 */
export async function run(command, args, options = {}) {
  const status = await statusOf(command, args, options);
  if (status !== 0) process.exit(status);
}

/** Runs npm without its messages for users. */
export async function npm(args, options) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  await run(command, [...args, '--no-audit', '--no-fund', '--loglevel=error'], options);
}

/** The exit status of a command; 1 if a signal ended it. */
export function statusOf(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Runs Node in place of this process: it gets the signals, cleans up, and its status becomes ours. */
export function runInForeground(...args) {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // Ctrl-C reaches the child directly.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
}
