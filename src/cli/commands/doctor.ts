import type { Command } from 'commander';
import type { JobGuard } from '../../guard';
import { databaseOfGuard } from '../../integrations/sql/create-guard';
import type { Finding } from '../../storage/sql/doctor/finding';
import { examine } from '../examination';
import { addGuardCommand, withGuard } from '../guard-command';
import type { Options } from '../options';
import { print, printJson, shown, styled } from '../terminal';

const STYLES = { error: 'red', warning: 'yellow', info: 'dim' } as const;

/** `cronlatch doctor`: examines a database and what cronlatch keeps there. Fails if something is unsafe. */
export function addDoctorCommand(program: Command): void {
  addGuardCommand(program, 'doctor', 'examine the database, and show each problem with its fix').action(
    withGuard(doctor),
  );
}

async function doctor(guard: JobGuard, { json }: Options): Promise<void> {
  const { address = 'an unknown database', name } = databaseOfGuard(guard)?.database ?? {};
  const examined = await examine(guard);
  const all = examined.flatMap(({ findings }) => findings ?? []);
  const [errors, warnings, infos] = (['error', 'warning', 'info'] as const).map((severity) =>
    all.filter((each) => each.severity === severity),
  ) as [Finding[], Finding[], Finding[]];
  const topicsWith = (count: number | undefined): string[] =>
    examined.filter(({ findings }) => findings?.length === count).map(({ topic }) => topic);
  const [fine, notExamined] = [topicsWith(0), topicsWith(undefined)];
  const findings = [...errors, ...warnings, ...infos];
  if (errors.length > 0) process.exitCode = 1;
  if (json)
    return printJson('doctor', {
      ...{ address, errors: errors.length, warnings: warnings.length, findings, fine, notExamined },
    });
  print(`${address}${name === undefined ? '' : `, database ${name}`}\n\n`);
  for (const each of findings) print(`${describe(each)}\n\n`);
  if (fine.length > 0) print(`fine: ${fine.join(', ')}`);
  if (notExamined.length > 0) print(`not examined: ${notExamined.join(', ')}`);
  print(`errors: ${errors.length}, warnings: ${warnings.length}`);
}

function describe({ severity, code, problem, fix, statement }: Finding): string {
  const run = statement === undefined ? '' : `\n       ${shown(statement)};`;
  return `${styled(STYLES[severity], severity)} ${code}\n  ${shown(problem)}\n  fix: ${shown(fix)}${run}`;
}
