import { execFile } from 'node:child_process';

export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd: string;
  /** Added to the environment of the tests. `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: nothing, and the input stays open. */
  readonly input?: string | undefined;
}

/**
 * Runs a command to its end, with any exit status. The limit is far longer than needed, because the machine
 * may be busy.
 */
export function command(file: string, args: readonly string[], cwd: string): Promise<Ended> {
  return commandWith({ cwd }, file, args);
}

export function commandWith(
  { cwd, env, input }: CommandOptions,
  file: string,
  args: readonly string[],
): Promise<Ended> {
  const options = { cwd, env: { ...environment(), ...env }, timeout: 300_000, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ status: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ status: error.code, stdout, stderr });
      else resolve({ status: 1, stdout, stderr: `${stderr}${error.message}` }); // The command did not start, or a signal ended it.
    });
    if (input !== undefined) child.stdin?.end(input);
  });
}

/** @throws with the command's output, if its status is not 0 */
export async function succeeding(file: string, args: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await command(file, args, cwd);
  if (status === 0) return stdout;
  throw new Error(`${[file, ...args].join(' ')} ended with ${status}:\n${stdout}${stderr}`);
}

export const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';
export const NPX = process.platform === 'win32' ? 'npx.cmd' : 'npx';

/** A child that took itself for a test file of this run would report to it, and spoil the measured coverage. */
function environment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  delete environment['NODE_TEST_CONTEXT'];
  delete environment['NODE_V8_COVERAGE'];
  delete environment['NODE_OPTIONS'];
  return environment;
}
