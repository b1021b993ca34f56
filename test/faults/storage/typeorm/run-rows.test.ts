import assert from 'node:assert/strict';
import type { Run } from '#cronlatch/ledger/run';
import { INJECTED_NAMES } from '#cronlatch/contracts/names';
import { databaseNowUs } from '../../../support/databases/lock-table';
import { testRunStores } from '../../../support/benches/run-store';
import { CLAIM, FAILED, LIMIT, PENDING, RUNNING } from '../../../support/jobs/runs';
import { TRICKY_NAMES } from '../../../storage/typeorm/flaws/tricky-names';

const ANY = { order: 'oldest-first', limit: 1000 } as const;

testRunStores('a run that starts has the times of the database, and its given values', async (bench) => {
  const { store, application } = bench;
  const beforeMs = Math.floor((await databaseNowUs(application)) / 1000);
  assert.equal(await store.insert(RUNNING, LIMIT), true);
  const afterMs = (await databaseNowUs(application)) / 1000;

  const [run, ...others] = await store.find(ANY, LIMIT);
  assert.ok(run && others.length === 0);
  const startedMs = run.createdAt.getTime();
  assert.ok(beforeMs <= startedMs && startedMs <= afterMs);
  const { started, ...given } = RUNNING;
  assert.deepEqual(run, {
    ...given,
    ...{ generation: 0, attempt: 1, nextAttemptAt: undefined },
    ...{ claimedBy: started?.claimedBy, lockId: started?.lockId, fencingToken: started?.fencingToken },
    leaseUntil: new Date(startedMs + 60_000),
    ...{ firstStartedAt: run.createdAt, startedAt: run.createdAt, finishedAt: undefined },
    ...{ createdAt: run.createdAt, updatedAt: run.createdAt },
    ...{ reason: undefined, result: undefined, error: undefined },
  } satisfies Run);
});

testRunStores('every value that a change writes is read back', async ({ store }) => {
  await store.insert(PENDING, LIMIT);
  const instant = (ms: number): Date => new Date(Date.UTC(2026, 2, 29, 1, 30, 0, ms));
  const value: Partial<Run> = {
    ...{ state: 'interrupted', generation: 2 ** 31 - 1, attempt: 3 },
    ...{ nextAttemptAt: instant(1), leaseUntil: instant(999), startedAt: new Date(-1) },
    ...{
      firstStartedAt: new Date('1969-12-31T23:59:59.001Z'),
      finishedAt: new Date('2254-12-31T23:59:59.999Z'),
    },
    ...{ claimedBy: 'hôst/😀', lockId: 'x'.repeat(128), fencingToken: Number.MAX_SAFE_INTEGER },
    ...{
      reason: 'r'.repeat(32),
      result: `"${'é😀'.repeat(10_000)}"`,
      error: `it's \\ "so"\n${'ř'.repeat(8192)}`,
    },
  };
  const before = await store.change(
    CLAIM,
    (found) => {
      assert.ok(found);
      return { value: found.run, write: { ...found.run, ...value }, events: [FAILED, FAILED] };
    },
    LIMIT,
  );
  const [after] = await store.find(ANY, LIMIT);
  assert.ok(after && after.updatedAt >= before.updatedAt);
  assert.deepEqual(after, { ...before, ...value, updatedAt: after.updatedAt });
  const events = await store.events(CLAIM, LIMIT);
  assert.deepEqual(
    events.map(({ at, ...event }) => (assert.ok(at >= before.createdAt), event)),
    [FAILED, FAILED],
  );

  // A field that the change does not write is empty again.
  const cleared = Object.fromEntries(Object.keys(value).map((name) => [name, undefined])) as Partial<Run>;
  const empty = { ...cleared, state: 'failed', generation: 0, attempt: 0 } as const;
  await store.change(CLAIM, (found) => ({ value: 0, write: { ...(found?.run as Run), ...empty } }), LIMIT);
  const [last] = await store.find(ANY, LIMIT);
  assert.deepEqual(last, { ...before, ...empty, updatedAt: last?.updatedAt });
});

testRunStores('custom keys have neither start nor end', async ({ store }) => {
  const custom = { ...RUNNING, periodStart: undefined, periodEnd: undefined, timeZone: undefined };
  await store.insert(custom, LIMIT);
  const [run] = await store.find(ANY, LIMIT);
  assert.deepEqual([run?.periodStart, run?.periodEnd, run?.timeZone], [undefined, undefined, undefined]);
  const request = { job: RUNNING.job, scope: '', periodKey: undefined, since: undefined };
  assert.equal((await store.peek(request, LIMIT)).firstPeriodStart, undefined);
});

testRunStores('names and keys are compared byte for byte, and returned unchanged', async ({ store }) => {
  const names = [...TRICKY_NAMES, 'é'.normalize('NFD'), ...INJECTED_NAMES.slice(0, 20)];
  const fits = names.filter((name) => Array.from(name).length <= 64 && name.isWellFormed());
  assert.ok(fits.length > 100);
  for (const name of fits) {
    assert.equal(
      await store.insert({ ...PENDING, job: name, scope: name, periodKey: name }, LIMIT),
      true,
      name,
    );
  }
  for (const name of fits) {
    const key = { job: name, scope: name, periodKey: name };
    assert.equal(await store.insert({ ...PENDING, ...key }, LIMIT), false, name);
    const { runs } = await store.peek({ ...key, since: undefined }, LIMIT);
    assert.deepEqual(
      runs.map((run) => [run.job, run.scope, run.periodKey]),
      [[name, name, name]],
    );
    assert.equal(await store.change(key, (found) => ({ value: found?.run.job }), LIMIT), name);
  }
  assert.equal((await store.overdue(fits, LIMIT)).length, fits.length);
});

testRunStores(
  'a space at the end makes another name or an error, never the other name’s run',
  async (bench) => {
    const { store, application } = bench;
    await store.insert(RUNNING, LIMIT);
    const spaced = { ...RUNNING, job: `${RUNNING.job} ` };
    assert.equal(await store.change(spaced, (found) => ({ value: found }), LIMIT), undefined);
    assert.deepEqual((await store.peek({ ...spaced, since: undefined }, LIMIT)).runs, []);
    assert.equal(await store.complete({ ...CLAIM, job: spaced.job }, undefined, LIMIT), false);
    // To the collation that MySQL and MariaDB have in common, the two are equal.
    const isFolded = ['mysql', 'mariadb'].includes(application.options.type);
    const inserted = store.insert(spaced, LIMIT);
    if (isFolded)
      await assert.rejects(inserted, { code: 'CRONLATCH_SCHEMA_MISMATCH', outcome: 'nothing-ran' });
    else assert.equal(await inserted, true);
  },
);

testRunStores('a claim must match exactly', async ({ store }) => {
  await store.insert(RUNNING, LIMIT);
  for (const wrong of [
    { generation: 1 },
    { attempt: 2 },
    ...['host/1/A', 'host/1/a ', 'host/1/b', ''].map((claimedBy) => ({ claimedBy })),
  ])
    assert.equal(
      await store.complete({ ...CLAIM, ...wrong }, undefined, LIMIT),
      false,
      JSON.stringify(wrong),
    );
  assert.equal(await store.complete(CLAIM, '"done"', LIMIT), true);
  assert.equal(await store.complete(CLAIM, '"again"', LIMIT), false);
  const [run] = await store.find(ANY, LIMIT);
  assert.deepEqual([run?.state, run?.result, run?.finishedAt], ['completed', '"done"', run?.updatedAt]);
});
