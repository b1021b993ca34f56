/** Locks that are not in the database of the runs: their state comes from the lock provider. */
import { declareLockJob } from '../support/jobs/lock-job';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobGuard, LockStorageError } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { systemClock } from '#cronlatch/core/clock';
import { readWhy } from '#cronlatch/operations/why';
import { siteOf } from '../dashboard/site';
import { testEtcd } from '../support/benches/etcd';
import { runningJob } from '../support/benches/guard';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { testRedis } from '../support/benches/redis';
import { testOnZooKeeper } from '../support/benches/zookeeper';
import { RunsAndActs } from '../support/stores/in-memory-acts';
import { newGuard } from '../support/benches/guard-with-runs';
import { operations } from 'cronlatch/operations';

const OPTIONS = { logger: false, pollInterval: false } as const;
const NAMES = ['busy', 'idle', 'paused'];

/** A guard with three jobs that have only locks, and their runs in memory. */
async function guardOn(lockProvider: LockProvider): Promise<JobGuard> {
  const guard = newGuard({
    lockProvider,
    runStore: new RunsAndActs({ clock: systemClock }),
    ...OPTIONS,
  });
  for (const name of NAMES) declareLockJob(guard, { name, lockAtMostFor: '10m' });
  await guard.runOverdue();
  return guard;
}

async function statesOf(guard: JobGuard): Promise<Record<string, string>> {
  const { jobs } = await operations(guard).overview();
  return Object.fromEntries(jobs.map(({ job, state }) => [job, state]));
}

async function pause(guard: JobGuard): Promise<void> {
  await operations(guard).pause({ lock: 'paused' }, { actor: 'anne', reason: 'audit' });
}

/** The acts are in the database of the runs. */
async function assertRecorded(guard: JobGuard): Promise<void> {
  await operations(guard).resume({ lock: 'paused' }, { actor: 'bob', reason: 'audited' });
  const acts = await operations(guard).acts({ lock: 'paused' });
  assert.deepEqual(
    acts.map(({ verb, actor, state }) => [verb, actor, state]),
    [
      ['resume', 'bob', 'done'],
      ['pause', 'anne', 'done'],
    ],
  );
  assert.match((await siteOf(guard).get('?job=paused')).text, /Acts of operators[^]*audited[^]*audit/);
}

async function assertUnreachable(guard: JobGuard, id: string): Promise<void> {
  const { problems, locks } = await operations(guard).overview();
  assert.deepEqual([problems.map(({ kind }) => kind), locks], [['unreachable'], undefined]);
  assert.ok(problems[0]?.text.startsWith(`The lock provider '${id}' did not answer`), problems[0]?.text);
  assert.deepEqual(await statesOf(guard), {
    ...{ busy: 'unreachable', idle: 'unreachable', paused: 'unreachable' },
  });
  const { obstacles } = await readWhy(guard, 'busy');
  // The first use of each idle connection fails with a code of its own.
  const withoutCode = (text = ''): string => text.replace(/ \([A-Z]+\)/, '');
  assert.deepEqual(
    obstacles.map(({ reason, text }) => [reason, withoutCode(text)]),
    [['unreachable', withoutCode(problems[0]?.text)]],
  );
  const page = (await siteOf(guard).get()).text;
  assert.match(page, /<title>3 unreachable –/);
  assert.match(page, /The lock provider &#39;[^<]*&#39; did not answer/);
}

testRedis('pauses and running jobs are shown, and a Redis that is gone is a problem', async (bench) => {
  const [holder, lockProvider] = [
    new JobGuard({ lockProvider: bench.provider(), ...OPTIONS }),
    bench.provider(),
  ];
  const guard = await guardOn(lockProvider);
  const job = await runningJob(holder, { name: 'busy', lockAtMostFor: '10m' });
  await pause(guard);
  assert.deepEqual(await statesOf(guard), { busy: 'running', idle: 'no record', paused: 'paused' });
  const { problems, locks } = await operations(guard).overview();
  assert.deepEqual([problems, locks], [[], undefined]);
  const site = siteOf(guard);
  const [overview, page] = [await site.get(), await site.get('?locks=held')];
  assert.match(overview.text, /Paused by anne; the pause ends [^]*<code class="mute">audit</);
  assert.equal(page.status, 200);
  assert.deepEqual(
    [...page.text.matchAll(/lock=(\w+)">/g)].map(([, name]) => name),
    ['busy', 'paused'],
  );
  job.finish();
  await job.result;
  assert.equal((await statesOf(guard))['busy'], 'no record');
  await assertRecorded(guard);
  bench.connected.close();
  await assertUnreachable(guard, bench.keyPrefix);
  const gone = await siteOf(guard).get('?locks=held');
  assert.equal(gone.status, 200);
  assert.match(gone.text, /did not answer/);
});

testEtcd(
  'pauses and running jobs are shown, and an etcd that is gone is a problem',
  async ({ gateway, provider }) => {
    const guard = await guardOn(provider);
    const job = await runningJob(guard, { name: 'busy', lockAtMostFor: '10m' });
    await pause(guard);
    assert.deepEqual(await statesOf(guard), { busy: 'running', idle: 'no record', paused: 'paused' });
    job.finish();
    await job.result;
    await gateway.close();
    await assertUnreachable(guard, provider.id ?? '');
    const page = await siteOf(guard).get('?locks=held');
    assert.equal(page.status, 503);
    assert.match(page.text, /The lock provider did not answer\./);
  },
);

testOnZooKeeper('running jobs are shown, and a ZooKeeper that is gone is a problem', async (bench) => {
  const client = await bench.client();
  const provider = await bench.provider({ client });
  const guard = await guardOn(provider);
  const job = await runningJob(guard, { name: 'busy', lockAtMostFor: '10m' });
  assert.deepEqual(await statesOf(guard), { busy: 'running', idle: 'no record', paused: 'no record' });
  job.finish();
  await job.result;
  client.close();
  await assertUnreachable(guard, provider.id ?? '');
});

void test('a lock name that the lock provider cannot have hides no other lock', async () => {
  const { provider, runStore, clock } = guardOfRuns();
  const lockUntil = new Date(clock.wallMs() + 60_000);
  const found = {
    isHeld: true,
    lockedBy: 'web-1/17/0f8fad5b-d9cb-469f-a165-70867728950e',
    lockUntil,
    fencingToken: 1,
  };
  const lockProvider: LockProvider = {
    lock: (...of) => provider.lock(...of),
    inspect: (name) =>
      name === 'idle' ? provider.inspect('x'.repeat(300)) : Promise.resolve({ name, ...found }),
  };
  const guard = newGuard({ lockProvider, runStore, ...OPTIONS });
  for (const name of NAMES) declareLockJob(guard, { name, lockAtMostFor: '10m' });
  await guard.runOverdue();
  assert.deepEqual(await statesOf(guard), { busy: 'running', paused: 'running', idle: 'no record' });
});

void test('without a known job, a lock provider that does not answer is a problem', async () => {
  const { provider } = guardOfRuns();
  const away = new LockStorageError('gone: redis://me:secret@host', { driverCode: 'ECONNREFUSED' });
  const lockProvider: LockProvider = {
    lock: (...of) => provider.lock(...of),
    inspect: () => Promise.reject(away),
  };
  const { problems } = await operations(new JobGuard({ lockProvider, ...OPTIONS })).overview();
  assert.deepEqual(
    problems.map(({ text }) => text),
    [
      'The lock provider did not answer (ECONNREFUSED). No job gets its lock, and it is unknown which locks are held.',
    ],
  );
});
