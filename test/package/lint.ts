import { command, type Ended } from '../support/processes/command';

/** Other linters of packages. None of their rules is switched off. */
export const LINTERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['publint', ['node_modules/publint/src/cli.js', 'run', '--strict']],
  ['attw', ['node_modules/@arethetypeswrong/cli/dist/index.js', '--no-color', '--format', 'ascii']],
]);

const CONTENT: Readonly<Record<string, string>> = { publint: 'All good!', attw: 'No problems found' };

/** @returns the linter's complaints about a tarball; `undefined` if there are none */
export async function complaintOf(linter: string, tarball: string): Promise<string | undefined> {
  const ended: Ended = await command(
    process.execPath,
    [...(LINTERS.get(linter) ?? []), tarball],
    process.cwd(),
  );
  const output = `${ended.stdout}${ended.stderr}`;
  // A suggestion counts as a complaint, with any exit status.
  return ended.status === 0 && output.includes(CONTENT[linter] ?? linter) ? undefined : output;
}
