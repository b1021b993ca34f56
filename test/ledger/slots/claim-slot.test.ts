import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { EventHub } from 'cronlatch/provider';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';
import { claimSlot, type SlotResult } from '#cronlatch/ledger/slots/claim-slot';
import { turn } from '../../support/benches/lock';
import type { RunStore } from '#cronlatch/ledger/run-store';

const claim = { job: 'settle', scope: '', periodKey: 'now', generation: 0, attempt: 1, claimedBy: 'me' };

type Answers = Partial<Pick<RunStore, 'insert' | 'change'>>;

/** Claims a slot from a store with the given answers, in virtual time, and returns how long it took. */
async function ask(answers: Answers): Promise<{ answer: SlotResult; tookMs: number; limits: number[] }> {
  const clock = new SettableClock('2026-11-20T03:00:00Z');
  const limits: number[] = [];
  const failsInTime = (timeoutMs: number): Promise<never> =>
    new Promise((_resolve, reject) => {
      limits.push(timeoutMs);
      clock.schedule(timeoutMs, () => reject(new LockStorageError('no answer')));
    });
  const store = {
    insert: (_run: unknown, { timeoutMs }: { timeoutMs: number }) => failsInTime(timeoutMs),
    change: (_key: unknown, _decide: unknown, { timeoutMs }: { timeoutMs: number }) => failsInTime(timeoutMs),
    ...answers,
  } as unknown as RunStore;
  const events = new EventHub();
  const lockProvider = new InMemoryLockProvider({ clock });
  const random = () => 0.5;
  const context = {
    store,
    lockProvider,
    clock,
    events,
    random,
    statementTimeoutMs: 5000,
    instance: 'host/1',
  };
  const beganAtMs = clock.monotonicMs();
  let answer: SlotResult | undefined;
  void claimSlot(context, claim, 60_000).then((given) => (answer = given));
  for (await turn(); answer === undefined; await turn()) clock.advance(1);
  return { answer, tookMs: clock.monotonicMs() - beganAtMs, limits };
}

const refused = (outcome: 'nothing-ran' | 'contention') =>
  Promise.reject(new LockStorageError('refused', { outcome }));

void test('a store that never answers is retried for 4 s, each time with half of the remaining time', async () => {
  const { answer, tookMs, limits } = await ask({});
  assert.ok(answer.kind === 'unknown' && answer.mayBeOurs);
  assert.ok(3900 < tookMs && tookMs <= 4000, `${tookMs}`);
  assert.equal(limits[0], 2000);
  assert.ok(limits.length > 3);
});

for (const outcome of ['nothing-ran', 'contention'] as const) {
  void test(`a failed insert (${outcome}) is retried for 4 s, and the slot is not ours`, async () => {
    let tries = 0;
    const { answer, tookMs } = await ask({ insert: () => ((tries += 1), refused(outcome)) });
    assert.ok(answer.kind === 'unknown' && !answer.mayBeOurs);
    assert.ok(3900 < tookMs && tookMs <= 4000, `${tookMs}`);
    assert.ok(tries > 3 && tries < 50);
  });
}

void test('contention that passes is retried until the claim succeeds', async () => {
  let tries = 0;
  const insert = (): Promise<boolean> => ((tries += 1) < 3 ? refused('contention') : Promise.resolve(true));
  assert.equal((await ask({ insert })).answer.kind, 'elected');
});

void test('an error that is not from the store is not retried', async () => {
  const { answer } = await ask({ insert: () => Promise.reject(new TypeError('a mistake')) });
  assert.ok(answer.kind === 'unknown' && answer.error instanceof TypeError && !answer.mayBeOurs);
});

void test('after a lost answer, an existing row may be ours, and a missing row is inserted again', async () => {
  let inserts = 0;
  const insert = (): Promise<boolean> =>
    (inserts += 1) === 1 ? Promise.reject(new LockStorageError('lost')) : Promise.resolve(true);
  const change = (holder: string | undefined) =>
    ((_key: unknown, decide: (found: unknown) => { value: unknown }) =>
      Promise.resolve(
        decide(holder === undefined ? undefined : { run: { claimedBy: holder } }).value,
      )) as unknown as RunStore['change'];
  assert.equal((await ask({ insert, change: change('me') })).answer.kind, 'elected');
  inserts = 0;
  assert.equal((await ask({ insert, change: change('another instance') })).answer.kind, 'taken');
  inserts = 0;
  assert.equal((await ask({ insert, change: change(undefined) })).answer.kind, 'elected');
  assert.equal(inserts, 2);
});
