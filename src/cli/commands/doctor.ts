import type { Command } from 'commander';
import type { JobGuard } from '../../guard';
import { databaseOfGuard, type GuardDatabase } from '../../integrations/sql/create-guard';
import { inspectTables } from '../../integrations/sql/tables';
import type { Ask } from '../../storage/sql/connections/proxy-check';
import { finding, type Finding } from '../../storage/sql/connections/finding';
import { clockOffset, judgeClock, judgeProxies, plainSession } from '../../storage/sql/doctor/session';
import { judgeSettings, readSettings, type Settings } from '../../storage/sql/doctor/settings';
import { judgePrivileges, judgeTable } from '../../storage/sql/doctor/tables';
import { addGuardCommand, withGuard } from '../guard-command';
import type { Options } from '../options';
import { io, print, printJson, printText, shown, styled } from '../terminal';

const STYLES = { error: 'red', warning: 'yellow', info: 'dim' } as const;

export function addDoctorCommand(program: Command): void {
  addGuardCommand(program, 'doctor', 'examine the database, and show each problem with its fix').action(
    withGuard(doctor),
  );
}

async function doctor(guard: JobGuard, { json }: Options): Promise<void> {
  const { address = 'an unknown database', name } = databaseOfGuard(guard)?.database ?? {};
  const examined = await examine(guard);
  const all = examined.flatMap(({ findings }) => findings ?? []);
  const of = (severity: Finding['severity']) => all.filter((each) => each.severity === severity);
  const [errors, warnings, infos] = [of('error'), of('warning'), of('info')];
  const counts = { errors: errors.length, warnings: warnings.length };
  const topicsWith = (count: number | undefined): string[] =>
    examined.filter(({ findings }) => findings?.length === count).map(({ topic }) => topic);
  const [fine, notExamined] = [topicsWith(0), topicsWith(undefined)];
  const findings = [...errors, ...warnings, ...infos];
  if (errors.length > 0) io.exitCode = 1;
  if (json) return printJson('doctor', { address, ...counts, findings, fine, notExamined });
  print(`${address}${name === undefined ? '' : `, database ${name}`}\n\n`);
  for (const each of findings) {
    const alike = findings.filter((it) => it.code === each.code && fixText(it) === fixText(each));
    if (alike[0] === each) printFinding(each, alike);
  }
  if (fine.length > 0) printText(`fine: ${fine.join(', ')}`);
  if (notExamined.length > 0) printText(`not examined: ${notExamined.join(', ')}`);
  print(`errors: ${errors.length}, warnings: ${warnings.length}`);
}

function printFinding({ severity, code, fix, statement }: Finding, alike: readonly Finding[]): void {
  print(`${styled(STYLES[severity], severity)} ${code}`);
  for (const { problem } of alike) printText(problem, undefined, '  ');
  printText(`fix: ${fix}`, undefined, '  ');
  print(statement === undefined ? '' : `       ${shown(statement)};\n\n`);
}

/** Findings with the same text are printed together, such as the tables that one command creates. */
function fixText({ fix, statement = '' }: Finding): string {
  return `${fix}\n${statement}`;
}

interface Examined {
  readonly topic: string;
  /** `undefined` if it was not examined: a store that is not a database, but answers. */
  readonly findings: readonly Finding[] | undefined;
}

type Topic = readonly [topic: string, check: () => Promise<Examined['findings']>];

/**
 * Examines the database of a guard. Writes nothing.
 *
 * @throws LockStorageError if the database cannot be reached
 */
export async function examine(guard: JobGuard): Promise<readonly Examined[]> {
  const examined: Examined[] = [];
  for await (const [topic, check] of topicsOf(guard, databaseOfGuard(guard))) {
    const failed = (error: unknown): Finding[] => {
      const reason = error instanceof Error ? error.message : String(error);
      return [finding('not-examined', `Could not examine the ${topic}: ${reason}`)];
    };
    examined.push({ topic, findings: await check().catch(failed) });
  }
  return examined;
}

async function* topicsOf(guard: JobGuard, known: GuardDatabase | undefined): AsyncGenerator<Topic> {
  const problem =
    'Could not examine the database, because createJobGuard() of a driver did not create this guard.';
  if (known === undefined) yield ['database', () => Promise.resolve([finding('not-examined', problem)])];
  if (known === undefined || known.options.lockProvider !== undefined)
    yield ['lock store', () => guard.probe('5s').then(() => undefined)];
  if (known === undefined) return;
  const { database } = known;
  const { dialect, file, isInMemory, sessions } = database;
  const { ask, end } = plainSession(database);
  let settings: Settings = {};
  try {
    await ask('SELECT 1'); // It throws if the database cannot be reached.
    if (sessions !== undefined) yield ['connection', () => judgeProxies(database, sessions.driver, ask)];
    const judgeAll = async (): Promise<Finding[]> => {
      settings = await readSettings(dialect.name, ask, file);
      return judgeSettings(dialect.name, settings);
    };
    if (!isInMemory) yield ['settings', judgeAll];
    yield ['tables and privileges', () => examineTables(known, settings, ask)];
    if (sessions !== undefined) yield ['clock', async () => judgeClock(await clockOffset(dialect, ask))];
  } finally {
    await end();
  }
}

async function examineTables(
  { database, options }: GuardDatabase,
  { user }: Settings,
  ask: Ask,
): Promise<Finding[]> {
  const { lockProvider, lockTable, columns, schema, nameLength, runTable, jobTable } = options;
  const ofLedger = ['ledger', 'jobs', 'operations'] as const;
  const tables = lockProvider === undefined ? (['lock', ...ofLedger] as const) : ofLedger;
  const named = { lockTable, columns, schema, nameLength, runTable, jobTable };
  const findings: Finding[] = [];
  for (const { definition, findings: flaws } of await inspectTables(database, { tables, ...named })) {
    findings.push(...flaws.map((flaw) => judgeTable(definition, flaw, database.address)));
    if (user === undefined || flaws.some(({ code }) => code === 'missing-table')) continue;
    findings.push(...(await judgePrivileges(definition, { dialect: database.dialect, user }, ask)));
  }
  return findings;
}
