import type { Command, Option } from 'commander';
import { ACTS } from '../operations/acts';

/** The commands by what an operator wants to do. */
const GROUPS = {
  'Look:': 'status dashboard why history logs locks jobs doctor',
  'Act:': [...ACTS.keys()].join(' '),
  'Set up:': 'init sql completion',
  'Run:': 'exec demo',
};

/** The options that most commands have. The help shows them after those of the command itself. */
const COMMON: ReadonlySet<string> = new Set(
  'url dataSource app lockTable runTable jobTable rowLockTable schema json utc verbose'.split(' '),
);

const EXAMPLES = `
Examples:
  cronlatch status                       the jobs, and what needs your attention
  cronlatch history --since 12h          the runs of the last night
  cronlatch why JOB                      why a job does not run now
  cronlatch rerun JOB --reason TEXT      run the newest period of a job again`;

/** Call it when the program has all its commands. */
export function groupHelp(program: Command): void {
  const isCommon = (option: Option): boolean => COMMON.has(option.attributeName());
  for (const command of program.commands) {
    const isIn = ([, names]: [string, string]): boolean => names.split(' ').includes(command.name());
    command.helpGroup(Object.entries(GROUPS).find(isIn)?.[0] ?? 'More:');
    command.options.filter(isCommon).forEach((option) => option.helpGroup('Common options:'));
    (command.options as Option[]).sort((one, other) => Number(isCommon(one)) - Number(isCommon(other)));
  }
  program.addHelpText('after', EXAMPLES);
}
