import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from 'cronlatch/operations';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { turn } from '../support/benches/lock';
import { BY } from '../support/jobs/acts';

void test('requests for several scopes of one job run one after the other, in one check', async () => {
  const of = guardOfRuns();
  const ran: string[] = [];
  const scope = (tenant: string): string => tenant;
  const oncePer = { ...DAILY.oncePer, scope, resume: (run: { scope: string }) => [run.scope] as [string] };
  of.guard.wrap({ ...DAILY, oncePer }, async (tenant: string) => {
    ran.push(`${tenant} begins`);
    await turn();
    ran.push(`${tenant} ends`);
  });
  await of.guard.runOverdue();
  for (const tenant of ['eu', 'us', 'asia'])
    await operations(of.guard).run({ job: 'close-day', scope: tenant }, BY);
  assert.equal((await of.guard.runOverdue()).started, 3);
  assert.deepEqual(
    ran,
    ['eu', 'us', 'asia'].flatMap((tenant) => [`${tenant} begins`, `${tenant} ends`]),
  );
  const acts = await operations(of.guard).acts({ job: 'close-day', verb: 'run' });
  assert.deepEqual(
    acts.map((act) => [act.scope, act.state, act.tries]),
    ['asia', 'us', 'eu'].map((tenant) => [tenant, 'done', 1]),
  );
});

void test('a request whose run an earlier taker has completed is done, not refused', async () => {
  const of = guardOfRuns();
  of.guard.wrap(DAILY, () => {});
  await of.guard.runOverdue();
  const { act: id = '' } = await operations(of.guard).run({ job: 'close-day' }, BY);
  const owner = 'slow/1/x';
  assert.ok(await of.runStore.acts.take(id, { owner, leaseMs: 60_000 }));
  await of.guard.run(DAILY, () => {});
  assert.ok(await of.runStore.acts.change(id, owner, { state: 'open' }));
  await of.guard.runOverdue();
  const [request] = await operations(of.guard).acts();
  assert.deepEqual([request?.state, request?.outcome], ['done', undefined]);
});
