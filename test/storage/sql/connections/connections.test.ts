import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
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

function connectionThat(execute: (statement: SqlStatement, endsAtMs: number) => Promise<SqlResult>) {
  return {
    execute,
    transaction: () => assert.fail(),
    rollBack: () => assert.fail(),
    release: () => {},
    destroy: () => {},
  };
}

void test('after close, a statement that waits for a connection is not sent, and opens none', async () => {
  let opened = 0;
  const answer = signal<SqlResult>();
  const connection = connectionThat(() => answer.promise);
  const open = () => Promise.resolve(((opened += 1), connection));
  const source = { size: 1, open, close: () => Promise.resolve() };
  const connections = new Connections(source, sqlite, systemClock);
  const options = { timeoutMs: 1000 };
  const first = execute(connections, 'first', options);
  const second = execute(connections, 'second', options);
  second.catch(() => {}); // Awaited below.
  await turn();
  await connections.close();
  answer.resolve({ rows: [], affectedRows: 0, insertId: 0 });
  await first;
  await assert.rejects(second, { progress: 'not-sent' });
  assert.equal(opened, 1);
});

void test('a statement that waited for a connection for most of its time limit is not sent', async () => {
  const clock = new SettableClock();
  const answer = signal<SqlResult>();
  const sent: string[] = [];
  const connection = connectionThat(({ id }) => (sent.push(id), answer.promise));
  const source = { size: 1, open: () => connection, close: () => Promise.resolve() };
  const connections = new Connections(source, sqlite, clock);
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
  answer.resolve({ rows: [], affectedRows: 0, insertId: 0 });
  await first;
  assert.deepEqual(sent, ['first']);
});

void test('a statement that may wait longer than its time limit gets the whole limit when a connection is free', async () => {
  const clock = new SettableClock();
  const answer = signal<SqlResult>();
  const ends: number[] = [];
  const connection = connectionThat((_, endsAtMs) => (ends.push(endsAtMs), answer.promise));
  const source = { size: 1, open: () => connection, close: () => Promise.resolve() };
  const connections = new Connections(source, sqlite, clock);
  let sent = 0;
  const options = { timeoutMs: 1000, connectionWaitMs: 30_000, onSending: () => (sent += 1) };
  const first = execute(connections, 'id', { ...options, timeoutMs: 60_000 });
  assert.equal(sent, 0, 'it did not wait');
  const second = execute(connections, 'id', options);
  const third = execute(connections, 'id', { ...options, connectionWaitMs: 25_000 });
  third.catch(() => {}); // Awaited below.
  clock.advance('29s');
  await assert.rejects(third, { message: 'no connection was free within 25000 ms', progress: 'not-sent' });
  answer.resolve({ rows: [], affectedRows: 0, insertId: 0 });
  await Promise.all([first, second]);
  assert.equal(sent, 1);
  assert.equal(ends[1], clock.monotonicMs() + 1000);
});
