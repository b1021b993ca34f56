import { DataSource } from 'typeorm';
import { lockWriter } from '../contenders/raw';
import { runWriter } from '../contenders/raw-runs';
import type { BareDatabase, BenchDatabase } from '../databases/bench-database';
import type { Row } from '../report/table';

type Plan = readonly Readonly<Record<string, unknown>>[];

/** How a database describes its plans. */
interface Explanation {
  readonly prefix: string;
  /** One step of a plan, for people. */
  readonly describe: (step: Plan[number]) => string;
  /** Whether the step reads all rows of a table of the library. */
  readonly isFullScan: (step: Plan[number]) => boolean;
}

const TABLES = /shedlock|cronlatch_run/;

const EXPLANATIONS: Readonly<Record<BareDatabase['dialect']['name'], Explanation>> = {
  mysql: {
    prefix: 'EXPLAIN FORMAT=TRADITIONAL',
    describe: ({ table, type, key, rows }) =>
      [table, type, key, rows]
        .filter((part) => part !== null)
        .map(String)
        .join(' '),
    // The aliases r and p are those of the library's statements.
    isFullScan: ({ table, type }) =>
      (type === 'ALL' || type === 'index') && (TABLES.test(String(table)) || /^[rpe]$/.test(String(table))),
  },
  postgres: {
    prefix: 'EXPLAIN',
    describe: (step) => (/(\w+ )*Scan\b[^(]*/.exec(String(step['QUERY PLAN'])) ?? [''])[0].trim(),
    isFullScan: (step) => /Seq Scan on (shedlock|cronlatch_run)/.test(String(step['QUERY PLAN'])),
  },
  sqlite: {
    prefix: 'EXPLAIN QUERY PLAN',
    describe: ({ detail }) =>
      (/^(SEARCH|SCAN) (shedlock|cronlatch_run|[rpe]) .*/.exec(String(detail)) ?? [''])[0],
    isFullScan: ({ detail }) => /^SCAN (shedlock|cronlatch_run|[rpe])\b/.test(String(detail)),
  },
};

/** How the database finds the rows of each statement. */
export async function plansOf(database: BenchDatabase): Promise<readonly Row[]> {
  const { prefix, describe, isFullScan } = EXPLANATIONS[database.dialect.name];
  const dataSource = await new DataSource(database.options).initialize();
  try {
    const [lock, runs] = [lockWriter(database), runWriter(database)];
    const statements = {
      'take-over of a lock': lock('takeOver', '1', 'bench'),
      'release of a lock': lock('unlock', '1', 'bench'),
      'read of the runs of a tick': runs.read('job', '1'),
      'completion of a run': runs.complete('job', '1', 'bench'),
    };
    const rows: Row[] = [];
    for (const [name, { text, values }] of Object.entries(statements)) {
      // MariaDB does not explain SET STATEMENT.
      const plain = text.replace(/^\/\*M! SET STATEMENT .*? FOR \*\//, '');
      const plan = await dataSource.query<Plan>(`${prefix} ${plain}`, [...values]);
      const steps = plan.map(describe).filter((step) => step !== '');
      const verdict = plan.some(isFullScan) ? 'missed' : 'reached';
      rows.push({ name, values: { plan: steps.join('; '), verdict } });
    }
    return rows;
  } finally {
    await dataSource.destroy();
  }
}
