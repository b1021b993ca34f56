import { NPX } from '../support/processes/command';
import { Project } from './project';
import type { Tarball } from './tarball';

const GUARDED = `
import { createJobGuard } from 'cronlatch/better-sqlite3';
const guard = await createJobGuard('sqlite:jobs.db');
console.log((await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => 'ran')).value);
await guard.close();
`;

/**
 * Calls the command line in an application that has installed the package and one driver.
 *
 * @param nodes executables of Node that print the statements besides
 * @returns what fails; `undefined` if nothing does
 */
export async function commandLineFailure(
  tarball: Tarball,
  nodes: readonly string[] = [],
): Promise<string | undefined> {
  using project = new Project();
  await project.install(tarball.file);
  project.link('better-sqlite3');
  project.write('guarded.mjs', GUARDED);
  const sql = ['sql', '--dialect', 'sqlite'];
  const init = ['init', '--url', 'sqlite:jobs.db'];
  const calls: readonly (readonly [expected: RegExp, file: string, ...args: string[]])[] = [
    [/^CREATE TABLE IF NOT EXISTS "shedlock" /, NPX, '--no', 'cronlatch', ...sql],
    ...nodes.map(
      (node) => [/^CREATE TABLE /, node, 'node_modules/cronlatch/dist/cli/main.js', ...sql] as const,
    ),
    [
      /\ncreated shedlock, cronlatch_run, (cronlatch_[a-z_]+, )*cronlatch_run_log\n$/,
      NPX,
      '--no',
      'cronlatch',
      ...init,
    ],
    [/\nnothing to do\n$/, NPX, '--no', 'cronlatch', ...init],
    [/^cronlatch \S+ run:completed: job 'job' .*\nran\n$/, process.execPath, 'guarded.mjs'],
  ];
  for (const [expected, file, ...args] of calls) {
    const { status, stdout, stderr } = await project.run(file, ...args);
    if (status !== 0 || !expected.test(stdout)) return `${args.join(' ')}:\n${stdout}${stderr}`;
  }
  return undefined;
}
