import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { test } from 'node:test';
import { ServerBench } from '../support/benches/server';
import { tableOf } from '../support/checks/page';
import { testOn } from '../support/databases/fresh';
import { statementLog } from '../support/databases/statement-log';

const PAGE = 'docs/performance.md';
const JOB = { name: 'close-day', lockAtMostFor: '1m' } as const;

const costs = tableOf(PAGE, 'what happens');

/** The statements of the row that begins so. */
function listed(beginning: string, rows: readonly string[][] = costs): number {
  const found = rows.filter(([what = '']) => what.startsWith(beginning));
  assert.equal(found.length, 1, beginning);
  return Number(found[0]?.[1]);
}

// The statements are the same on MySQL and MariaDB, as `statement-counts.test.ts` shows.
testOn('postgres', 'locks cost as many statements as the page lists', async (t) => {
  const bench = await ServerBench.on('postgres');
  t.after(() => bench.dispose());
  const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
  const source = () => bench.dataSource({ url: log.url });
  const guard = bench.closeAtEnd(await createJobGuard(source()));
  const other = bench.closeAtEnd(await createJobGuard(bench.application));
  const unkept = bench.closeAtEnd(await createJobGuard(source(), { keepRows: false }));
  const cost = async (work: () => Promise<unknown>): Promise<number> => {
    log.statements();
    await work();
    return log.statements().length;
  };
  const run = () => guard.run(JOB, () => {});
  await run();
  assert.equal(await cost(run), listed('a run under a lock'));
  await guard.run(JOB, async () => {
    assert.equal(await cost(run), listed('a tick while the job runs in this process'));
  });
  await other.run(JOB, async () => {
    const first = await cost(run);
    const further = await cost(run);
    assert.equal(further, listed('a refused tick'));
    assert.equal(first - further, listed('… in addition, once a minute'));
  });
  guard.enable(false);
  assert.equal(await cost(run), listed('a tick of a disabled job or guard'));
  guard.enable(true);
  const unkeptRun = () => unkept.run({ ...JOB, name: 'order' }, () => {});
  await unkeptRun();
  assert.equal(await cost(unkeptRun), listed('a run with [`keepRows: false`]'));
  const whole = () => guard.run({ ...JOB, lockAtLeastFor: '1m' }, () => {});
  assert.equal(await cost(whole), listed('… with `lockAtLeastFor` equal'));
});

void test('runs of a day cost what their page lists, which is counted there', () => {
  const counted = tableOf('docs/once-per-business-day.md', 'what is done');
  for (const [here, there] of [
    ["the day's run", "the day's first run"],
    ['a tick of a day that is done', 'a tick of a completed day'],
    ['the check for overdue runs', 'the check for overdue runs'],
    ['the register of jobs', 'the register of jobs'],
    ['… in addition, every two minutes', '… in addition, every two minutes'],
  ] as const)
    assert.equal(listed(here), listed(there, counted), here);
});
