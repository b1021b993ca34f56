// More of this subject: guard/notices/webhook.test.ts, guard/notices/killed-sender.test.ts
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  InvalidLockConfigurationError,
  LockStorageError,
  type JobGuard,
  type JobGuardOptions,
} from 'cronlatch';
import { dailyJob } from '../../cli/year-of-runs';
import { signal } from '../../support/benches/executor';
import { DAILY, failOnce, type GuardOfRuns, guardOfRuns, ONCE } from '../../support/benches/guard-of-runs';
import { eventually } from '../../support/clocks/eventually';
import type { Notice, Notify } from 'cronlatch/notify';
import { operations } from 'cronlatch/operations';
import type { RunStore } from '#cronlatch/ledger/run-store';
import { newGuard } from '../../support/benches/guard-with-runs';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface NoticeBench extends GuardOfRuns {
  readonly sent: Notice[];
  /** Another guard on the same stores, as another instance has one. */
  readonly another: (options?: Partial<JobGuardOptions>) => JobGuard;
}

function bench(options: Parameters<typeof guardOfRuns>[0] = {}): NoticeBench {
  const sent: Notice[] = [];
  const notify: Notify = (notice) => void sent.push(notice);
  const made = guardOfRuns({ notify, ...options });
  const another: NoticeBench['another'] = (own) =>
    newGuard({ ...made.options(), notify, events: undefined, ...own });
  return { ...made, sent, another };
}

void test('a run that fails permanently is noticed once, with the command to type', async () => {
  const made = bench();
  const { guard, sent, clock, another } = made;
  await failOnce(made);
  await guard.runOverdue();
  const [notice, ...more] = sent;
  assert.deepEqual(more, []);
  const key = (await guard.ledger.last('close-day'))?.periodKey ?? '';
  assert.deepEqual([notice?.kind, notice?.job, notice?.at.slice(0, 3)], ['failed', 'close-day', '202']);
  assert.match(
    notice?.text ?? '',
    /^The run of job 'close-day' for \S+ failed permanently at .+, after attempt 1: .*no disk\. To run it again:\ncronlatch rerun close-day \S+ --reason TEXT$/,
  );
  assert.deepEqual(notice?.command, ['rerun', 'close-day', key, '--reason', 'TEXT']);

  clock.advance(5 * MINUTE_MS);
  await guard.runOverdue();
  await another().runOverdue();
  assert.equal(sent.length, 1);

  await operations(guard).rerun({ job: 'close-day', period: key }, { actor: 'anne', reason: 'fixed' });
  await failOnce(made);
  await guard.runOverdue();
  assert.deepEqual([sent.length, new Set(sent.map(({ id }) => id)).size], [2, 2]);
});

void test('a retry that will follow is not noticed', async () => {
  const { guard, sent } = bench();
  await guard.run(DAILY, () => assert.fail('no disk')).catch(() => {});
  await guard.runOverdue();
  assert.deepEqual(sent, []);
});

void test('a failed run of an earlier day is noticed, although today has completed', async () => {
  const made = bench();
  const { guard, sent, clock } = made;
  await guard.run(ONCE, () => 'done');
  await failOnce(made, new Date(clock.wallMs() - 48 * HOUR_MS));
  await guard.runOverdue();
  assert.deepEqual(
    sent.map(({ kind, text }) => [kind, /\d{4}-\d\d-\d\d/.exec(text)?.[0]]),
    [['failed', new Date(clock.wallMs() - 48 * HOUR_MS).toISOString().slice(0, 10)]],
  );
});

void test('an interrupted run is noticed by an instance that does not have the job', async () => {
  const { guard, sent, another, clock } = bench();
  const [crashing, next] = [another({ notify: undefined }), another({ notify: undefined })];
  const job = { ...ONCE, oncePer: { ...ONCE.oncePer, onCrash: 'hold' } } as const;
  void crashing.run(job, () => new Promise(() => {}));
  await eventually(async () => (await guard.ledger.last('close-day'))?.state === 'running', 'it runs');
  clock.advance(HOUR_MS);
  assert.equal((await next.run(job, () => 'again')).executed, false);
  await guard.runOverdue();
  await guard.runOverdue();
  assert.deepEqual(
    sent.map(({ kind, command }) => [kind, command[0]]),
    [['interrupted', 'resolve']],
  );
  assert.match(sent[0]?.text ?? '', /\ncronlatch resolve close-day \S+ --as OUTCOME --reason TEXT$/);
});

void test('a late job is noticed once for each tick, also if no instance has it any more', async () => {
  const { guard, sent, clock, runStore } = bench();
  const at = new Date(clock.wallMs() + 1).toISOString();
  await runStore.registerJobs([dailyJob('-x', { schedules: [{ at }] })]);
  clock.advance(4 * MINUTE_MS);
  await guard.runOverdue();
  assert.equal(sent.length, 0);
  clock.advance(2 * MINUTE_MS);
  await guard.runOverdue();
  await guard.runOverdue();
  assert.deepEqual(
    sent.map(({ kind, job, command }) => [kind, job, command]),
    [['late', '-x', ['why', '--', '-x']]],
  );
  assert.match(sent[0]?.text ?? '', /^Job '-x' is late: .+\.\ncronlatch why -- -x$/);
});

void test('a job that fails at each tick is noticed once a day', async () => {
  const { guard, sent, clock } = bench();
  const job = { name: 'poll', lockAtMostFor: '1m' } as const;
  const tick = async (oncePer?: { readonly period: 'tick' }): Promise<void> => {
    await guard.run({ ...job, oncePer }, () => assert.fail('no disk')).catch(() => {});
    await guard.runOverdue();
  };
  await tick();
  assert.deepEqual(sent, []);
  clock.advance(DAY_MS - (clock.wallMs() % DAY_MS));
  await tick({ period: 'tick' });
  clock.advance(HOUR_MS);
  await tick({ period: 'tick' });
  assert.deepEqual(
    sent.map(({ kind, job }) => [kind, job]),
    [['failed', 'poll']],
  );
  clock.advance(DAY_MS);
  await tick({ period: 'tick' });
  assert.equal(sent.length, 2);
});

/** Pauses the lock for an hour, and lets an instance see it. */
async function pausedForAnHour({ guard }: NoticeBench): Promise<void> {
  await operations(guard).pause({ lock: 'close-day' }, { until: '1h', actor: 'anne', reason: 'audit' });
  await guard.runOverdue();
}

void test('the end of a pause is noticed when it comes, by one instance', async () => {
  const made = bench();
  const { guard, sent, clock, another } = made;
  await pausedForAnHour(made);
  clock.advance(59 * MINUTE_MS);
  await guard.runOverdue();
  assert.deepEqual(sent, []);
  clock.advance(2 * MINUTE_MS);
  await Promise.all([guard.runOverdue(), another().runOverdue()]);
  assert.deepEqual(
    sent.map(({ kind, job, text }) => [kind, job, text]),
    [
      [
        'pause-ended',
        'close-day',
        "The pause of lock 'close-day' by anne has ended: audit. Its jobs start again.\ncronlatch why close-day",
      ],
    ],
  );
});

const ENDED_BY_HAND: Readonly<Record<string, (made: NoticeBench) => Promise<unknown>>> = {
  'no one has taken the lock': () => Promise.resolve(),
  'a job has run': ({ guard }) => guard.run(ONCE, () => 'done'),
  'another operator pauses it': ({ guard }) =>
    operations(guard).pause({ lock: 'close-day' }, { until: '5h', actor: 'bob', reason: 'move' }),
};

for (const [then, act] of Object.entries(ENDED_BY_HAND))
  void test(`a pause that an operator has ended is not noticed: then ${then}`, async () => {
    const made = bench();
    const { guard, sent, clock } = made;
    await pausedForAnHour(made);
    clock.advance(10 * MINUTE_MS);
    await operations(guard).resume({ lock: 'close-day' }, { actor: 'anne', reason: 'done' });
    await act(made);
    clock.advance(HOUR_MS);
    await guard.runOverdue();
    await guard.runOverdue();
    assert.deepEqual(sent, []);
  });

void test('each of several functions gets each notice, and only one that fails gets it again', async () => {
  const calls: string[] = [];
  let isUp = false;
  const unsteady: Notify = ({ id }) => {
    calls.push(`unsteady ${id}`);
    if (!isUp) throw new Error('down');
  };
  const made = bench({ notify: [unsteady, ({ id }) => void calls.push(`steady ${id}`)] });
  await failOnce(made);
  await made.guard.runOverdue();
  isUp = true;
  made.clock.advance(MINUTE_MS);
  await made.guard.runOverdue();
  made.clock.advance(MINUTE_MS);
  await made.guard.runOverdue();
  const [id = ''] = (calls[0] ?? '').split(' ').slice(1);
  assert.deepEqual(calls, [`unsteady ${id}`, `steady ${id}`, `unsteady ${id}`]);
});

void test('a guard that closes ends a call that goes on, and another instance sends the notice', async () => {
  const called = signal<AbortSignal>();
  const made = bench({
    notify: (_notice, ends) => {
      called.resolve(ends);
      return new Promise((_resolve, reject) => {
        ends.addEventListener('abort', () => reject(new Error('the guard closes')));
      });
    },
  });
  const { guard, sent, another, lines } = made;
  await failOnce(made);
  assert.equal((await called.promise).aborted, false);
  await guard.close();
  const next = another({ notify: (notice) => void sent.push(notice) });
  await next.runOverdue();
  assert.deepEqual(
    [sent.map(({ kind }) => kind), lines.filter((line) => line.includes('notice'))],
    [['failed'], []],
  );
});

void test('a target that hangs stops no other, and keeps a guard from closing for 10 s at most', async () => {
  const calls: string[] = [];
  const hangs: Notify = () => new Promise(() => calls.push('hangs'));
  const made = bench({ notify: [hangs, () => void calls.push('sent')] });
  await failOnce(made);
  const checked = made.guard.runOverdue();
  await eventually(() => calls.length === 2, 'both calls');
  const closed = made.guard.close();
  await eventually(() => made.guard.isClosing, 'it closes');
  made.clock.advance(10_000);
  await Promise.all([closed, checked]);
  const { acts } = await made.runStore.notices.pending('notice');
  assert.deepEqual([calls.sort(), acts.map(({ state }) => state)], [['hangs', 'sent'], ['open']]);
});

void test('a run that fails while a target hangs is stored at once', async () => {
  const called = signal();
  const made = bench({ notify: () => new Promise(() => called.resolve()) });
  await failOnce(made);
  await called.promise;
  await failOnce(made, new Date(made.clock.wallMs() - 48 * HOUR_MS));
  await eventually(
    async () => (await made.runStore.notices.pending('notice')).acts.length === 2,
    'the second notice waits',
  );
});

void test('of instances that poll one after the other, one reads the overview in a minute', async () => {
  const made = bench({ pollInterval: '1m' });
  const latest = mock.method(made.runStore, 'latest');
  const guards = [made.guard, made.another(), made.another()];
  for (const guard of guards) {
    await guard.runOverdue();
    made.clock.advance(10_000);
  }
  assert.equal(latest.mock.callCount(), 1);
  // A failure is sent at once, by the instance that has it.
  await failOnce(made);
  await made.guard.runOverdue();
  assert.deepEqual([latest.mock.callCount(), made.sent.length], [1, 1]);
  made.clock.advance(20_000);
  await guards[1]?.runOverdue();
  assert.deepEqual([latest.mock.callCount(), made.sent.length], [2, 1]);
});

void test('an instance whose lock the store does not grant warns once, and sends nothing', async () => {
  const made = bench();
  const error = new LockStorageError('no answer', { outcome: 'unknown' });
  const failing = mock.method(made.provider, 'lock', () => Promise.reject(error));
  await made.guard.runOverdue();
  await made.guard.runOverdue();
  assert.deepEqual(made.emitted, [
    [
      'guard:warning',
      { message: 'Could not store or read notices. The guard will try again at the next poll.', error },
    ],
  ]);
  failing.mock.restore();
  await failOnce(made);
  await made.guard.runOverdue();
  assert.equal(made.sent.length, 1);
});

void test('a run that fails while the guard closes is noticed', async () => {
  const made = bench();
  const { guard, sent, another } = made;
  const running = guard.run(ONCE, async () => {
    void guard.close();
    await new Promise(setImmediate);
    assert.fail('no disk');
  });
  await running.catch(() => {});
  await guard.close();
  await another().runOverdue();
  assert.deepEqual(
    sent.map(({ kind }) => kind),
    ['failed'],
  );
});

void test('a guard that cannot keep notices, and an invalid notify, are refused', () => {
  const made = guardOfRuns();
  const withNotify = (own: object): JobGuard => newGuard({ ...made.options(), notify: () => {}, ...own });
  const withoutRequests: RunStore = Object.create(made.runStore, {
    notices: { value: undefined },
  }) as RunStore;
  const secret = 'https://hooks.example/top-secret';
  for (const [own, message] of [
    [{ runStore: undefined }, /^notify needs a ledger, but this guard has only locks\./],
    [{ runStore: withoutRequests }, /^notify must be a function, .+ It needs a guard with a database\.$/],
    [{ notify: secret }, /^notify must be a function, such as webhook/],
    [{ notify: [() => {}, secret] }, /^notify must be a function, such as webhook/],
  ] as const)
    assert.throws(
      () => withNotify(own),
      (error) => {
        assert.ok(error instanceof InvalidLockConfigurationError);
        assert.match(error.message, message);
        return !error.message.includes('top-secret');
      },
    );
});

void test('without notify, a check reads no more than before', async () => {
  const { runStore, guard } = guardOfRuns();
  const reads = (['latest', 'jobs'] as const).map((name) => mock.method(runStore, name).mock);
  await guard.runOverdue();
  for (const read of reads) assert.equal(read.callCount(), 0);
});
