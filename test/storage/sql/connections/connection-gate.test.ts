import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import { ConnectionGate } from '#cronlatch/storage/sql/connections/connections';
import { turn } from '../../../support/benches/lock';

const OTHER = waiting(1000);
const LATE = waiting(5000);
const LEASE = { ...OTHER, priority: 'lease' } as const;
const HOLDER = { ...OTHER, priority: 'holder' } as const;
const RELEASE = { ...OTHER, priority: 'release' } as const;

type Limit = Parameters<ConnectionGate['enter']>[0];

/** A request that waits for so long. */
function waiting(connectionWaitMs: number): Limit {
  return { timeoutMs: 1, connectionWaitMs };
}

function bench(size: number, spare = 0) {
  const clock = new SettableClock();
  const gate = new ConnectionGate({ size, spare }, clock);
  const entered: string[] = [];
  const enter = async (name: string, limit: Limit = OTHER): Promise<void> => {
    await gate.enter(limit);
    entered.push(name);
  };
  const leave = (name: string): void => {
    assert.ok(entered.includes(name));
    gate.leave();
  };
  const leaveInTurn = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      leave(name);
      await turn();
    }
  };
  return { clock, entered, enter, leave, leaveInTurn };
}

void test('one of two connections is reserved for statements that a lease depends on', async () => {
  const { entered, enter, leave } = bench(2);
  for (const name of ['acquire-1', 'acquire-2']) void enter(name);
  void enter('extend', LEASE);
  await turn();
  assert.deepEqual(entered, ['acquire-1', 'extend']);
  leave('acquire-1');
  await turn();
  assert.deepEqual(entered, ['acquire-1', 'extend'], 'the last free connection stays reserved');
  leave('extend');
  await turn();
  assert.deepEqual(entered, ['acquire-1', 'extend', 'acquire-2']);
});

void test('a caller that has waited elsewhere is admitted before those that began to wait after it', async () => {
  const { clock, entered, enter, leave } = bench(1);
  void enter('first');
  void enter('second');
  const sinceMs = clock.monotonicMs();
  clock.advance(1);
  for (const name of ['later', 'latest']) void enter(name);
  void enter('third', { ...OTHER, sinceMs });
  for (const name of ['first', 'second', 'third', 'later']) {
    await turn();
    leave(name);
  }
  await turn();
  assert.deepEqual(entered, ['first', 'second', 'third', 'later', 'latest']);
});

void test('a caller that waits too long gets an error that nothing was sent, and does not block the next one', async () => {
  const { clock, entered, enter, leave } = bench(1);
  void enter('first');
  const late = enter('late');
  const waited = enter('waiting', LATE);
  await turn();
  clock.advance('1s');
  await assert.rejects(late, { message: 'no connection was free within 1000 ms', progress: 'not-sent' });
  leave('first');
  await waited;
  assert.deepEqual(entered, ['first', 'waiting']);
});

void test('if no caller was admitted for 200 ms, the next one borrows a spare connection, as long as there is one', async () => {
  const { clock, entered, enter, leave } = bench(2, 2);
  for (const name of ['stuck-1', 'stuck-2', 'stuck-3', 'acquire', 'peek']) void enter(name);
  clock.advance(199);
  await turn();
  assert.deepEqual(entered, ['stuck-1']);
  clock.advance(1);
  await turn();
  assert.deepEqual(entered, ['stuck-1', 'stuck-2']);
  clock.advance(200);
  await turn();
  assert.deepEqual(entered, ['stuck-1', 'stuck-2', 'stuck-3']);
  clock.advance(400);
  await turn();
  assert.deepEqual(entered, ['stuck-1', 'stuck-2', 'stuck-3'], 'there are only two to borrow');
  void enter('extend', LEASE);
  await turn();
  assert.deepEqual(
    entered.slice(3),
    ['extend'],
    'one is still reserved for statements that a lease depends on',
  );
  leave('extend');
  leave('stuck-2');
  await turn();
  assert.deepEqual(entered.slice(4), ['acquire']);
});

void test('a long queue that keeps moving borrows no connection', async () => {
  const { clock, entered, enter, leave } = bench(2, 1);
  for (const name of ['first', 'second', 'third', 'fourth']) void enter(name, LATE);
  for (const name of ['first', 'second', 'third']) {
    await turn();
    clock.advance(150);
    leave(name);
    await turn();
  }
  assert.deepEqual(entered, ['first', 'second', 'third', 'fourth'], 'one after the other');
});

void test('a process that was busy itself borrows no connection before it has read the answers', async () => {
  const { clock, entered, enter } = bench(2, 1);
  for (const name of ['first', 'second']) void enter(name, LATE);
  clock.stall(2000);
  clock.advance(0);
  await turn();
  assert.deepEqual(entered, ['first']);
  clock.advance(199);
  await turn();
  assert.deepEqual(entered, ['first']);
  clock.advance(1);
  await turn();
  assert.deepEqual(entered, ['first', 'second']);
});

void test('extensions that pass do not hide that other callers are stuck', async () => {
  const { clock, entered, enter, leave } = bench(2, 1);
  for (const name of ['stuck', 'acquire']) void enter(name);
  for (const name of ['extend-1', 'extend-2']) {
    void enter(name, LEASE);
    await turn();
    clock.advance(100);
    leave(name);
  }
  await turn();
  assert.deepEqual(entered, ['stuck', 'extend-1', 'extend-2', 'acquire']);
});

void test('a borrowed connection is returned as soon as no caller waits, and can be borrowed again', async () => {
  const { clock, entered, enter, leave } = bench(2, 1);
  for (const round of [1, 2]) {
    for (const name of [`stuck-${round}`, `other-${round}`]) void enter(name);
    clock.advance(200);
    await turn();
    assert.equal(entered.length, 2 * round);
    leave(`other-${round}`);
    void enter('late', waiting(100)).catch(() => undefined);
    await turn();
    assert.equal(entered.length, 2 * round, 'it is not free for the next caller');
    clock.advance(100);
    leave(`stuck-${round}`);
  }
});

void test('the write of a run whose lock is held comes before requests for further locks', async () => {
  const { entered, enter, leaveInTurn } = bench(1);
  void enter('first');
  void enter('lock');
  void enter('claim', HOLDER);
  void enter('extension', LEASE);
  await turn();
  await leaveInTurn(['first', 'extension', 'claim']);
  assert.deepEqual(entered, ['first', 'extension', 'claim', 'lock']);
});

void test('the release of a lock comes behind the writes of runs that wait, and else comes first', async () => {
  const { entered, enter, leaveInTurn } = bench(2);
  for (const name of ['first', 'lock']) void enter(name);
  void enter('release-1', RELEASE);
  await turn();
  assert.deepEqual(entered, ['first', 'release-1'], 'it takes the last free connection');
  void enter('claim', HOLDER);
  void enter('release-2', RELEASE);
  void enter('extension', LEASE);
  await turn();
  await leaveInTurn(['first', 'extension', 'release-1', 'claim', 'release-2']);
  assert.deepEqual(entered, ['first', 'release-1', 'extension', 'claim', 'release-2', 'lock']);
});
