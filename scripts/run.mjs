import { spawn } from 'node:child_process';

/** Runs a command with the terminal's own streams. Ends this process with the command's status when it fails. */
export async function run(command, args, options = {}) {
  const status = await statusOf(command, args, options);
  if (status !== 0) process.exit(status);
}

/** The exit status of a command; 1 when a signal ended it. */
export function statusOf(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
