import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import { ConnectionGate } from '#cronlatch/storage/sql/connection-gate';
import { turn } from '../../support/lock-bench';

const URGENT = { urgent: true, timeoutMs: 1000 };
const OTHER = { urgent: false, timeoutMs: 1000 };

function bench(size: number) {
  const clock = new SettableClock();
  const gate = new ConnectionGate(size, clock);
  const entered: string[] = [];
  const enter = async (name: string, options = OTHER): Promise<void> => {
    await gate.enter(options);
    entered.push(name);
  };
  const leave = (name: string): void => {
    assert.ok(entered.includes(name));
    gate.leave();
  };
  return { clock, entered, enter, leave };
}

void test('of two connections one is kept for what a lease depends on', async () => {
  const { entered, enter, leave } = bench(2);
  for (const name of ['acquire-1', 'acquire-2']) void enter(name);
  void enter('extend', URGENT);
  await turn();
  assert.deepEqual(entered, ['acquire-1', 'extend']);
  leave('acquire-1');
  await turn();
  assert.deepEqual(entered, ['acquire-1', 'extend'], 'the last free one is still kept');
  leave('extend');
  await turn();
  assert.deepEqual(entered, ['acquire-1', 'extend', 'acquire-2']);
});

void test('where there is one connection, the order still holds', async () => {
  const { entered, enter, leave } = bench(1);
  void enter('acquire-1');
  for (const name of ['acquire-2', 'acquire-3']) void enter(name);
  void enter('unlock', URGENT);
  await turn();
  for (const name of ['acquire-1', 'unlock', 'acquire-2']) {
    leave(name);
    await turn();
  }
  assert.deepEqual(entered, ['acquire-1', 'unlock', 'acquire-2', 'acquire-3']);
});

void test('who waits too long is told that nothing was sent, and takes nobody’s place', async () => {
  const { clock, entered, enter, leave } = bench(1);
  void enter('first');
  const late = enter('late');
  const waiting = enter('waiting', { urgent: false, timeoutMs: 5000 });
  await turn();
  clock.advance('1s');
  await assert.rejects(late, { message: 'no connection was free within 1000 ms', progress: 'not-sent' });
  leave('first');
  await waiting;
  assert.deepEqual(entered, ['first', 'waiting']);
});
