import { command, type Ended } from '../support/command';

/** What else looks at packages. No rule of theirs is switched off. */
export const LINTERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['publint', ['node_modules/publint/src/cli.js', 'run', '--strict']],
  ['attw', ['node_modules/@arethetypeswrong/cli/dist/index.js', '--no-color', '--format', 'ascii']],
]);

const CONTENT: Readonly<Record<string, string>> = { publint: 'All good!', attw: 'No problems found' };

/** @returns what a linter has against a tarball; nothing when it is content */
export async function complaintOf(linter: string, tarball: string): Promise<string | undefined> {
  const ended: Ended = await command(
    process.execPath,
    [...(LINTERS.get(linter) ?? []), tarball],
    process.cwd(),
  );
  const said = `${ended.stdout}${ended.stderr}`;
  // A suggestion is a complaint as well, whatever the status.
  return ended.status === 0 && said.includes(CONTENT[linter] ?? linter) ? undefined : said;
}
