import {
  isDeclaration,
  scheduleText,
  type DeclaredJob,
  type JobAnswer,
  type JobRegister,
  type JobRegistration,
  type RegisteredJob,
} from '../../../ledger/job-register';
import { NamedStatement, type Parameters, type SqlRow, type SqlStatement } from '../statements/statement';
import { quotePath, type SqlDialect, type TableShape } from '../dialects/sql-dialect';
import { asFound, instantsIn, leastPrecise, type InspectedTable } from '../schema/inspected-table';
import type { TableColumn, TableDefinition } from '../schema/table-definition';
import { readInstant, readNow, readRequiredInstant } from './run-rows';

export function registeredJson(registrations: readonly JobRegistration[]): string {
  return sortedJson(
    registrations.map(({ job, declared, version, registeredBy }) => ({
      job,
      edition: version,
      instance: registeredBy,
      declaration: JSON.stringify(declared),
      times: scheduleText(declared),
    })),
  );
}

export function answeredJson(answers: readonly JobAnswer[]): string {
  return sortedJson(answers.map(({ job, answeredAt }) => ({ job, answered: answeredAt.getTime() * 1000 })));
}

/** Binds the statements on a table. `undefined` without the table, which must have no errors. */
export function statementsOn<N extends string>(
  table: TableDefinition,
  found: InspectedTable | undefined,
  dialect: SqlDialect,
  textsOf: (table: TableDefinition, dialect: SqlDialect, shape: TableShape) => Readonly<Record<N, string>>,
): ((text: N, values: Parameters) => SqlStatement) | undefined {
  const { inspection } = dialect;
  const instant = leastPrecise(instantsIn(table, found, inspection));
  if (found === undefined || instant === undefined) return undefined;
  const texts = textsOf(asFound(table, found), dialect, { now: inspection.now(instant) });
  const named = NamedStatement.byText(dialect.placeholder);
  return (text, values) => named(texts[text]).bind(values);
}

/** The columns of a row `r`, with instants in microseconds. */
export function fieldsOf(columns: readonly TableColumn[], us: (instant: string) => string): string {
  return columns
    .map(({ name, kind }) => `${kind.is === 'instant' ? us(`r.${name}`) : `r.${name}`} AS ${name}`)
    .join(', ');
}

export function jobTexts(jobTable: TableDefinition, dialect: SqlDialect, shape: TableShape) {
  const { now } = shape;
  const { us, at, after, is, elements, onDuplicate, proposed, updateMatched, returningId } =
    dialect.runFragments(shape);
  const table = quotePath(jobTable.path, dialect);
  const ofJob = {
    job: 'text',
    declaration: 'text',
    times: 'text',
    edition: 'text',
    instance: 'text',
  } as const;
  const registered = elements(':jobs', ofJob);
  const listed = jobTable.columns.filter(({ name }) => name !== 'schedule');
  const answers = elements(':jobs', { job: 'text', answered: 'integer' });
  const answered = at('j.answered');
  const stored = (column: string): string => `${table}.${column}`;
  const replaced = ['schedule', 'declared', 'version', 'registered_by', 'registered_at'].map(
    (column) => `${column} = ${proposed(column)}`,
  );
  return {
    list: `SELECT n.now_us AS now_us, ${fieldsOf(listed, us)}
      FROM (SELECT ${us(now)} AS now_us) n LEFT JOIN ${table} r ON TRUE`,
    // MySQL assigns from left to right, so a column is assigned after the columns that depend on its old value.
    register: `INSERT INTO ${table} (job_name, declared, schedule, declared_at, version, registered_by, registered_at)
      SELECT j.job, j.declaration, j.times, ${now}, j.edition, j.instance, ${now} FROM ${registered} WHERE TRUE
      ${onDuplicate('job_name')} declared_at = CASE WHEN ${stored('schedule')} = ${proposed('schedule')} AND ${stored('declared_at')} IS NOT NULL
          THEN ${stored('declared_at')} ELSE ${proposed('declared_at')} END,
        ${replaced.join(', ')}`,
    answer: `${updateMatched(table, answers, 'r.job_name = j.job', `answered_at = ${answered}`)}
      AND (r.answered_at IS NULL OR r.answered_at < ${answered})`,
    forget: `DELETE FROM ${table} WHERE ${is('job_name', ':job')} AND registered_at < ${after(':idle')}${
      returningId === '' ? '' : ' RETURNING job_name'
    }`,
  };
}

/** Two instances that lock the rows in the same order do not block each other for good. */
function sortedJson(jobs: readonly { readonly job: string }[]): string {
  return JSON.stringify(jobs.toSorted((a, b) => (a.job < b.job ? -1 : 1)));
}

/** The rows of `list`. Without a job, there is one row without a name. */
export function readJobs(rows: readonly SqlRow[]): JobRegister {
  const read = rows.filter(({ job_name: name }) => name !== null).map(readJob);
  read.sort((a, b) => (a.job < b.job ? -1 : 1));
  return {
    now: readNow(rows[0] ?? {}),
    jobs: read.filter((job): job is RegisteredJob => job.declared !== undefined),
    unreadable: read.filter(({ declared }) => declared === undefined),
  };
}

function readJob(row: SqlRow) {
  const job = String(row['job_name']);
  const subject = `job '${job}' in the register of jobs`;
  return {
    job,
    declared: readDeclared(row['declared']),
    declaredAt: readInstant(row, 'declared_at', subject),
    answeredAt: readInstant(row, 'answered_at', subject),
    version: String(row['version']),
    registeredBy: String(row['registered_by']),
    registeredAt: readRequiredInstant(row, 'registered_at', subject),
  };
}

function readDeclared(text: unknown): DeclaredJob | undefined {
  try {
    const declared: unknown = JSON.parse(String(text));
    return isDeclaration(declared) ? declared : undefined;
  } catch {
    return undefined; // The register lists the job as unreadable.
  }
}
