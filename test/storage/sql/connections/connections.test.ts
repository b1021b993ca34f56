import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { Connections } from '#cronlatch/storage/sql/connections/connections';
import type { Limit, SqlResult, SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import { signal } from '../../../support/benches/executor';
import { turn } from '../../../support/benches/lock';

function execute(connections: Connections, id: string, limit: Limit): Promise<SqlResult> {
  const statement = { id, text: 'text', values: [] };
  return connections.run((session, endsAtMs) => session.execute(statement, endsAtMs), limit);
}

/** One connection, which answers each statement when `answer` is settled, and what opened it. */
function bench(clock: Clock, onExecute: (statement: SqlStatement, endsAtMs: number) => void = () => {}) {
  const answer = signal<SqlResult>();
  const opened: unknown[] = [];
  const connection = {
    execute: (statement: SqlStatement, endsAtMs: number) => {
      onExecute(statement, endsAtMs);
      return answer.promise;
    },
    ...{ transaction: () => assert.fail(), rollBack: () => assert.fail() },
    ...{ release: () => {}, destroy: () => {} },
  };
  const open = () => (opened.push(connection), connection);
  const source = { size: 1, open, close: () => Promise.resolve() };
  const connections = new Connections(source, sqlite, clock);
  return { connections, opened, reply: () => answer.resolve({ rows: [], affectedRows: 0, insertId: 0 }) };
}

void test('after close, a statement that waits for a connection is not sent, and opens none', async () => {
  const { connections, opened, reply } = bench(systemClock);
  const options = { timeoutMs: 1000 };
  const first = execute(connections, 'first', options);
  const second = execute(connections, 'second', options);
  second.catch(() => {}); // Awaited below.
  await turn();
  await connections.close();
  reply();
  await first;
  await assert.rejects(second, { progress: 'not-sent' });
  assert.equal(opened.length, 1);
});

void test('a statement that waited for a connection for most of its time limit is not sent', async () => {
  const clock = new SettableClock();
  const sent: string[] = [];
  const { connections, reply } = bench(clock, ({ id }) => sent.push(id));
  const first = execute(connections, 'first', { timeoutMs: 60_000 });
  const second = execute(connections, 'second', { timeoutMs: 1000 });
  second.catch(() => {}); // Awaited below.
  clock.advance(751);
  await assert.rejects(second, { progress: 'not-sent' });
  // Half of the time had passed before it asked for a connection.
  const third = execute(connections, 'third', { timeoutMs: 500, sinceMs: clock.monotonicMs() - 500 });
  third.catch(() => {}); // Awaited below.
  clock.advance(251);
  await assert.rejects(third, { message: 'no connection was free within 750 ms', progress: 'not-sent' });
  reply();
  await first;
  assert.deepEqual(sent, ['first']);
});

void test('a statement that may wait longer than its time limit gets the whole limit when a connection is free', async () => {
  const clock = new SettableClock();
  const ends: number[] = [];
  const { connections, reply } = bench(clock, (_, endsAtMs) => ends.push(endsAtMs));
  let sent = 0;
  const options = { timeoutMs: 1000, connectionWaitMs: 30_000, onSending: () => (sent += 1) };
  const first = execute(connections, 'id', { ...options, timeoutMs: 60_000 });
  assert.equal(sent, 0, 'it did not wait');
  const second = execute(connections, 'id', options);
  const third = execute(connections, 'id', { ...options, connectionWaitMs: 25_000 });
  third.catch(() => {}); // Awaited below.
  clock.advance('29s');
  await assert.rejects(third, { message: 'no connection was free within 25000 ms', progress: 'not-sent' });
  reply();
  await Promise.all([first, second]);
  assert.equal(sent, 1);
  assert.equal(ends[1], clock.monotonicMs() + 1000);
});
