import assert from 'node:assert/strict';
import { InvalidLockUseError } from 'cronlatch';
import type { RunKey } from 'cronlatch/provider';
import { reasonOf, runningJob } from '../../support/benches/guard';
import { refused } from '../../support/checks/refused';
import { addRuns } from '../../support/jobs/acts';
import { dayJob, FIRST_DAY } from '../../support/jobs/day-job';
import { testLedger } from '../../support/stores/ledger-tests';

const noBank = (): never => {
  throw new Error('no bank today');
};

testLedger(
  'two jobs with the same name are rejected in one guard, naming both; in two guards they are one job (L-59)',
  async (place) => {
    const { guard } = place.instance();
    const other = place.instance().guard;
    const first = guard.wrap(dayJob(), () => 'first');
    refused(
      () => guard.wrap(dayJob({ name: 'close-day' }, { name: 'another' }), () => 'second'),
      "Two once-per jobs have the name 'close-day': guard.wrap('close-day') and guard.wrap('another')",
    );
    const theirs = other.wrap(dayJob(), () => 'theirs');
    assert.equal(await theirs(), 'theirs');
    assert.equal(await first(), undefined);
  },
);

testLedger('a job without its own name under a shared lock is rejected (L-59)', async (place) => {
  const { guard } = place.instance();
  refused(
    () => guard.check(dayJob({}, { shared: true })),
    "with the shared lock 'close-day' needs a name of its own",
  );
  guard.check(dayJob({ name: 'close-day' }, { shared: true }));
  await Promise.resolve();
});

testLedger(
  'a job whose scope depends on the arguments is restarted with the arguments of resume (L-59)',
  async (place) => {
    const { guard } = place.instance();
    const calls: string[] = [];
    const resumed: RunKey[] = [];
    const scoped = dayJob({
      scope: (region: string) => region,
      resume: (run) => {
        resumed.push(run);
        return [run.scope];
      },
    });
    const job = guard.wrap(scoped, (region: string) => {
      calls.push(region);
      if (calls.length < 3) noBank();
    });
    await job('eu');
    await job('us');
    await place.elapse('1m');
    assert.deepEqual(await guard.runOverdue(), { started: 2, overdue: 0 });
    assert.deepEqual(calls.slice(2).sort(), ['eu', 'us']);
    assert.deepEqual(resumed.map(({ scope }) => scope).sort(), ['eu', 'us']);
    refused(() => guard.check(dayJob({ scope: (region: string) => region })), 'also needs a resume function');
  },
);

testLedger('a job without arguments is restarted with none (L-59)', async (place) => {
  const { guard } = place.instance();
  const calls: unknown[][] = [];
  const job = guard.wrap(dayJob(), (...args: unknown[]) => {
    calls.push(args);
    if (calls.length === 1) noBank();
  });
  await job('by hand');
  await place.elapse('1m');
  await guard.runOverdue();
  assert.deepEqual(calls, [['by hand'], []]);
});

testLedger('rows of jobs that are not registered here stay unchanged', async (place) => {
  const { guard } = place.instance();
  await assert.rejects(guard.run(dayJob(), noBank), /no bank/);
  await place.elapse('1h');
  guard.wrap(dayJob({}, { name: 'another' }), () => assert.fail('ran'));
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal((await guard.ledger.get(FIRST_DAY))?.attempt, 1);
  for (const resumed of [guard.ledger.gaps('close-day'), guard.ledger.explain('close-day')])
    await assert.rejects(resumed, InvalidLockUseError);
  const range = { from: '2026-11-01', to: '2026-11-02' };
  await assert.rejects(addRuns(guard, range), /There is no registered job 'close-day'/);
});

testLedger('a job that is already running here is not started a second time', async (place) => {
  const instance = place.instance();
  instance.guard.wrap(dayJob(), () => assert.fail('ran'));
  const job = await runningJob(instance.guard, dayJob());
  assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal(instance.of('lock:skipped').length, 0);
  job.finish();
  await job.result;
});

testLedger("every event of a run contains the run's identity", async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  await assert.rejects(guard.run(dayJob(), noBank), /no bank/);
  await guard.run(dayJob(), () => assert.fail('ran'));
  await place.elapse('1m');
  const crashed = await runningJob(guard, dayJob());
  await place.elapse('2m');
  const other = place.instance();
  await other.guard.run(dayJob(), () => 'done');
  crashed.finish();
  await reasonOf(crashed.result);
  const run = { job: 'close-day', scope: '', periodKey: '2026-11-20', generation: 0 };
  assert.deepEqual(
    instance.of('run:started').map((event) => event.run),
    [
      { ...run, attempt: 1 },
      { ...run, attempt: 2 },
    ],
  );
  const [failed] = instance.of('run:failed');
  assert.deepEqual(failed?.run, { ...run, attempt: 1 });
  assert.ok(failed.retryAt instanceof Date);
  assert.equal(failed.isFinal, undefined);
  const [skipped] = instance.of('run:skipped');
  assert.deepEqual([skipped?.run, skipped?.reason], [{ ...run, attempt: 1 }, 'not-due']);
  const [takenOver] = other.of('run:takenOver');
  assert.deepEqual([takenOver?.run, takenOver?.lostAttempt], [{ ...run, attempt: 3 }, 2]);
  assert.equal(typeof takenOver?.lostClaim, 'string');
  assert.deepEqual(other.of('run:completed')[0]?.run, { ...run, attempt: 3 });
  assert.deepEqual(
    instance.of('run:failed').map(({ error }) => String(error).split(':')[0]),
    ['Error', 'ClaimLostError'],
  );
});
