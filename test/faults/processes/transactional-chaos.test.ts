import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { closing } from '../../support/benches/closing';
import { sampleSize } from '../../support/checks/sample-size';
import { createEffectTable, effectsIn } from '../../support/databases/effects';
import { SERVER_NAMES, reportLack, testWith } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { unleash } from './chaos/unleash';

const RUNS = sampleSize({ fast: 50, full: 1000 });
/** Most runs take a tenth of that. */
const LIMIT_MS = 60_000 + RUNS * 500;

reportLack('sqlite', 'a process that is stopped after its first write keeps the file locked for that long');

void suite('processes that are killed and stopped', { concurrency: true }, () => {
  for (const server of SERVER_NAMES) {
    testWith(
      server,
      `the effects of ${RUNS} transactional runs happen once each, however often their processes are killed and stopped (F-01, F-03, F-04)`,
      async (database, t) => {
        await using dataSource = closing(await ledgerDataSource(database));
        await createEffectTable(dataSource);
        const count = async (): Promise<number> => {
          const text = `SELECT COUNT(*) AS completed FROM cronlatch_run WHERE state = 'completed'`;
          const [row] = await dataSource.query<{ completed: unknown }[]>(text);
          return Number(row?.completed);
        };
        const orders = { options: database.options, runs: RUNS };
        const havoc = await unleash(orders, async () => (await count()) === RUNS, LIMIT_MS);

        const rows = await dataSource.query<{ period_key: string; attempt: unknown }[]>(
          'SELECT period_key, attempt FROM cronlatch_run ORDER BY period_key, attempt',
        );
        const attempts = rows.map((row) => ({ run: row.period_key, attempt: Number(row.attempt) }));
        const repeated = attempts.filter(({ attempt }) => attempt > 1).length;
        t.diagnostic(`${repeated} runs were repeated; ${JSON.stringify(havoc)}`);
        // Each by the attempt that completed its row.
        assert.deepEqual(sorted(await effectsIn(dataSource)), sorted(attempts));
        assert.equal(rows.length, RUNS);
        assert.ok(repeated > 0, 'no process was killed or stopped inside a run');
      },
    );
  }
});

function sorted(effects: readonly { readonly run: string; readonly attempt: number }[]): string[] {
  return effects.map(({ run, attempt }) => `${run}: ${attempt}`).sort();
}
