import assert from 'node:assert/strict';
import { currentRun, type CronlatchEvents, type JobGuard } from 'cronlatch';
import { testDrivers } from '../../support/benches/driver';
import { closing } from '../../support/benches/closing';
import { DAILY } from '../../support/benches/guard-of-runs';
import { eventually } from '../../support/clocks/eventually';
import { BY, purge } from '../../support/jobs/acts';
import { JOB, testDriverTransactions, type TransactionBench } from '../../support/benches/transaction';
import type { RunTransaction } from '../../support/transaction-contract/application';
import { operations } from 'cronlatch/operations';

const LEVELS = ['REPEATABLE READ', 'SERIALIZABLE'] as const;
const LINES = Array.from({ length: 1000 }, (_, line) => `line ${line} of it's "log" \\ 日本 😀`);
const KEPT = { guard: { keepLog: '64 kB' } } as const;
const CUT = '… (cut: the log has reached the size of keepLog)';

/** Waits until the log ends with this line. */
async function linesOf(guard: JobGuard, last: string | undefined): Promise<string[]> {
  const [run] = await guard.ledger.list({ limit: 1 });
  assert.ok(run);
  let lines: string[] = [];
  await eventually(async () => {
    const entries = await guard.ledger.log(run);
    lines = entries.flatMap((entry) => entry.lines.slice(0, -1).split('\n'));
    return lines.at(-1) === last;
  }, `the log ends with ${last}`);
  return lines;
}

function warningsOf(guard: JobGuard): CronlatchEvents['guard:warning'][] {
  const warnings: CronlatchEvents['guard:warning'][] = [];
  guard.on('guard:warning', (event) => void warnings.push(event));
  return warnings;
}

/** Prints, and lets the guard write while the transaction is open and has changed the row of the run. */
async function print(bench: TransactionBench, connection: RunTransaction): Promise<void> {
  await bench.effect(connection);
  await connection.query(`UPDATE cronlatch_run SET reason = 'mine'`);
  for (const line of LINES) currentRun().log(line);
  await eventually(async () => {
    const [row] = await bench.database.ask('SELECT COUNT(*) AS rows_of_log FROM cronlatch_run_log');
    return Number(row?.['rows_of_log']) > 0;
  }, 'a part of the log is stored while the transaction is open');
}

for (const isolationLevel of LEVELS)
  testDriverTransactions(
    `a run that logs 1,000 lines in a transaction at ${isolationLevel} commits, and its log is whole`,
    async ({ open }) => {
      const bench = await open(KEPT);
      const warnings = warningsOf(bench.guard);
      await bench.run(() =>
        bench.application.inRunTransaction((connection) => print(bench, connection), { isolationLevel }),
      );
      assert.deepEqual(await bench.effects(), [1]);
      assert.equal((await bench.row()).state, 'completed');
      assert.deepEqual(await linesOf(bench.guard, LINES.at(-1)), LINES);
      assert.deepEqual(warnings, []);
    },
  );

testDriverTransactions(
  'a run whose transaction rolls back keeps its log, up to its size',
  async ({ open }) => {
    const bench = await open({ guard: { keepLog: '10 kB' } });
    const job = { ...JOB, oncePer: { ...JOB.oncePer, retry: { maxAttempts: 1 } } };
    const failing = bench.run(
      () =>
        bench.application.inRunTransaction(async (connection) => {
          await print(bench, connection);
          throw new Error('mine');
        }),
      job,
    );
    await assert.rejects(failing, /mine/);
    assert.deepEqual(await bench.effects(), []);
    assert.equal((await bench.row()).state, 'failed');
    const lines = await linesOf(bench.guard, CUT);
    assert.deepEqual(lines.slice(0, -1), LINES.slice(0, lines.length - 1));
    const bytes = Buffer.byteLength(lines.slice(0, -1).join('\n'));
    assert.ok(9_900 < bytes && bytes < 10_000, `${bytes}`);
  },
);

const DROP = 'DROP TABLE cronlatch_run_log';

testDrivers(
  'a run goes on without a table of logs, after one warning that names the table and its fix',
  async (bench) => {
    await bench.createTables();
    await bench.query(DROP);
    await using guard = closing(await bench.createJobGuard(bench.url, { ...KEPT.guard, logger: false }));
    const warnings = warningsOf(guard);
    for (const date of ['2026-11-19', '2026-11-20']) {
      const { executed } = await guard.run({ ...DAILY, at: new Date(`${date}T12:00Z`) }, async () => {
        console.log('a line');
        currentRun().progress(1, 2);
        const { jobs } = await operations(guard).overview();
        assert.deepEqual(
          jobs.map(({ state }) => state),
          ['running'],
        );
      });
      assert.equal(executed, true);
    }
    assert.equal(await purge(guard, '1ms'), 1);
    await guard.close();
    assert.equal(warnings.length, 1, JSON.stringify(warnings));
    assert.match(
      warnings[0]?.message ?? '',
      /^Could not store a part of the log of the run of job .* The run goes on\.$/,
    );
    assert.match(
      String(warnings[0]?.error),
      /table .*cronlatch_run_log.* does not exist|createTables|npx cronlatch init/,
    );
  },
);

testDrivers(
  'a run goes on with a table of logs that refuses its rows, after one warning, and the next run is logged',
  async (bench) => {
    await bench.createTables();
    await using guard = closing(await bench.createJobGuard(bench.url, { ...KEPT.guard, logger: false }));
    const warnings = warningsOf(guard);
    const run = (date: string): Promise<unknown> =>
      guard.run({ ...DAILY, at: new Date(`${date}T12:00Z`) }, () => currentRun().log(date));
    await bench.query('ALTER TABLE cronlatch_run_log ADD CONSTRAINT is_full CHECK (attempt > 99)');
    await run('2026-11-18');
    await run('2026-11-19');
    await eventually(() => warnings.length > 0, 'a warning');
    assert.equal((await guard.ledger.last(DAILY.name))?.state, 'completed');
    await bench.query('ALTER TABLE cronlatch_run_log DROP CONSTRAINT is_full');
    await run('2026-11-20');
    assert.deepEqual(await linesOf(guard, '2026-11-20'), ['2026-11-20']);
    const [warning, ...others] = warnings.map(({ message }) => message);
    assert.match(warning ?? '', /^Could not store a part of the log of the run of job '.*' for 2026-11-18/);
    assert.deepEqual(others, []);
  },
  ['mysql', 'mariadb', 'postgres'],
);

testDrivers('a purge deletes the logs of the runs that it deletes, and no other', async (bench) => {
  await bench.createTables();
  await using guard = closing(await bench.createJobGuard(bench.url, { ...KEPT.guard, logger: false }));
  const periods = ['2026-11-18', '2026-11-19', '2026-11-20'];
  for (const date of periods)
    await guard.run({ ...DAILY, at: new Date(`${date}T12:00Z`) }, () => currentRun().log(date));
  const logOf = async (periodKey: string): Promise<string[]> =>
    (await guard.ledger.log({ job: DAILY.name, periodKey })).map(({ lines }) => lines);
  for (const key of periods) await eventually(async () => (await logOf(key)).length > 0, `the log of ${key}`);
  assert.equal(await purge(guard, '1ms'), 2);
  assert.deepEqual(await Promise.all(periods.map(logOf)), [[], [], ['2026-11-20\n']]);
  const rows = await bench.query('SELECT id FROM cronlatch_run_log');
  assert.equal(rows.length, 1);
});

testDrivers('progress is kept in one row as long as the run prints nothing', async (bench) => {
  await bench.createTables();
  await using guard = closing(await bench.createJobGuard(bench.url, { logger: false }));
  const rows = (): Promise<object[]> =>
    bench.query('SELECT generation, attempt, done, total FROM cronlatch_run_log').then((found) => [...found]);
  await guard.run(DAILY, async () => {
    for (const done of [1, 2, 3]) {
      currentRun().progress(done, 1000);
      await eventually(async () => {
        const [row] = (await rows()) as { done: unknown }[];
        return Number(row?.done) === done;
      }, `${done} are done`);
      const [shown] = (await operations(guard).overview()).jobs;
      assert.deepEqual(
        shown?.running.map((run) => [run.done, run.total]),
        [[done, 1000]],
      );
    }
  });
  assert.equal((await rows()).length, 1);
  await operations(guard).rerun({ job: DAILY.name }, { ...BY, force: true });
  await guard.run(DAILY, async () => {
    const [job] = (await operations(guard).overview()).jobs;
    assert.deepEqual(
      job?.running.map((run) => run.done),
      [undefined],
      'that of the run before does not count',
    );
  });
  const [shown] = (await operations(guard).overview()).jobs;
  assert.deepEqual(shown?.running, []);
});
