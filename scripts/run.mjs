import { spawn } from 'node:child_process';

/** Runs a command with the terminal's own streams. Ends this process with the command's status when it fails. */
export async function run(command, args, options = {}) {
  const status = await statusOf(command, args, options);
  if (status !== 0) process.exit(status);
}

/** Npm, without what only a person would read. */
export async function npm(args, options) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  await run(command, [...args, '--no-audit', '--no-fund', '--loglevel=error'], options);
}

/** The exit status of a command; 1 when a signal ended it. */
export function statusOf(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Node in place of this process: it gets the signals, cleans up, and its status becomes ours. */
export function runInForeground(...args) {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // Ctrl-C reaches it anyway.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
}
