import { gist } from './gist.mjs';
import { spawnGuarded } from './spawn-guarded.mjs';

/**
 * Runs a program to its end and resolves to its standard output. Rejects with the gist of its output if it
 * cannot be started, fails, or takes longer than `timeout`.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeout?: number }} [options] timeout in milliseconds
 * @returns {Promise<string>}
 */
export function run(file, args, { cwd, env = {}, timeout = 60_000 } = {}) {
  return new Promise((resolve, reject) => {
    // Without translations, because programs read the output.
    const child = spawnGuarded(file, args, { cwd, env: { ...process.env, LC_ALL: 'C', ...env } });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));

    const timer = setTimeout(() => {
      reject(new Error(`${file} was ended: it took longer than ${timeout / 1000} seconds`));
      child.kill('SIGKILL');
    }, timeout);
    child.once('error', (cause) => {
      clearTimeout(timer);
      reject(new Error(`${file} cannot be run: ${cause.message}`, { cause }));
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(output.stdout);
      else
        reject(
          new Error(`${file} failed (${signal ?? `exit ${code}`}): ${gist(output.stderr || output.stdout)}`),
        );
    });
  });
}
