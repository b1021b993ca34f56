import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { Connections } from '#cronlatch/storage/sql/connections/connections';
import { OwnServerConnections } from '#cronlatch/storage/sql/connections/server-connections';
import type { DriverSession } from '#cronlatch/storage/sql/connections/server-driver';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';

const STATEMENT_TIMEOUT_MS = 1000;
const ANSWER = { rows: [], affectedRows: 1, insertId: 0, inTransaction: false };

const driver = {
  dialect: mysql,
  readOnly: 'READ ONLY',
  variables: 'VARIABLES',
  sessionSettings: () => ['SETTINGS'],
  setsPooledSessions: true,
  begin: 'BEGIN',
  beginAt: () => ['BEGIN'],
  commit: 'COMMIT',
  rollBack: 'ROLLBACK',
  probe: 'PROBE',
  idleLimit: { begin: () => '', end: undefined },
  rowLock: { session: () => [], begin: () => '' },
};

/** Connections whose ends are reported late. Each logs what it is asked to do. */
function bench(failing: string, clock: Clock = systemClock) {
  const log: string[] = [];
  const forgotten = new Set<string>();
  let opened = 0;
  const open = () => {
    const name = `connection ${(opened += 1)}`;
    let isDestroyed = false;
    const session: DriverSession = {
      send({ text }) {
        log.push(`${name}: ${text}`);
        if (isDestroyed) return Promise.reject(new Error('closed'));
        if (forgotten.has(name)) return new Promise(() => {});
        return text === failing ? Promise.reject(new Error('lost')) : Promise.resolve(ANSWER);
      },
      onEnd: () => {},
      end: () => void log.push(`${name}: end`),
      destroy: () => {
        isDestroyed = true;
        log.push(`${name}: destroy`);
      },
    };
    return { session, opened: Promise.resolve() };
  };
  const limits = { clock, statementTimeoutMs: STATEMENT_TIMEOUT_MS, warn: () => {} };
  const connections = new Connections(new OwnServerConnections(driver, open, limits), mysql, clock);
  const execute = (text: string, timeoutMs = STATEMENT_TIMEOUT_MS) =>
    connections.run((session, endsAtMs) => session.execute({ id: text, text, values: [] }, endsAtMs), {
      timeoutMs,
      priority: 'lease',
    });
  return { log, execute, forgotten, newLines: () => log.splice(0) };
}

/** What connection 1, 2 or 3 was asked to do. */
function on(number: number, ...texts: readonly string[]): string[] {
  return texts.map((text) => `connection ${number}: ${text}`);
}

void test('a connection stays open for the next statement', async () => {
  const { log, execute } = bench('nothing');
  await execute('one');
  await execute('two');
  assert.deepEqual(log, on(1, 'VARIABLES', 'SETTINGS', 'one', 'two'));
});

void test('a connection that was destroyed is not used again, even before its end is reported', async () => {
  const { log, execute } = bench('one');
  await assert.rejects(execute('one'), /lost/);
  await execute('two');
  const first = on(1, 'VARIABLES', 'SETTINGS', 'one', 'destroy');
  assert.deepEqual(log, [...first, ...on(2, 'VARIABLES', 'SETTINGS', 'two')]);
});

void test('a connection whose set-up fails is destroyed', async () => {
  const { log, execute } = bench('SETTINGS');
  await assert.rejects(execute('one'), /lost/);
  assert.deepEqual(log, on(1, 'VARIABLES', 'SETTINGS', 'destroy'));
});

/** With two idle connections, the second one used last. */
async function idleBench(failing = 'nothing') {
  const clock = new SettableClock();
  const connections = bench(failing, clock);
  await Promise.all([connections.execute('one'), connections.execute('two')]);
  connections.newLines();
  return { ...connections, clock };
}

void test('a connection that was idle for 5 s is probed before a statement is sent, and only then', async () => {
  const { clock, execute, newLines } = await idleBench();
  clock.advance('4999ms');
  await execute('three');
  assert.deepEqual(newLines(), on(2, 'three'));
  clock.advance('5s');
  await execute('four');
  await execute('five');
  assert.deepEqual(newLines(), on(2, 'PROBE', 'four', 'five'));
});

void test('connections that are gone silently cost a probe, and the statement is sent once, on a new one', async () => {
  const { clock, execute, forgotten, newLines } = await idleBench();
  for (const name of ['connection 1', 'connection 2']) forgotten.add(name);
  clock.advance('10s');
  const executed = execute('three', 4000);
  clock.advance('999ms');
  assert.deepEqual(newLines(), on(2, 'PROBE'));
  clock.advance('1ms');
  await executed;
  const destroyed = [...on(2, 'destroy'), ...on(1, 'destroy')];
  assert.deepEqual(newLines(), [...destroyed, ...on(3, 'VARIABLES', 'SETTINGS', 'three')]);
});

void test('a probe takes at most a quarter of the time limit of its statement', async () => {
  const { clock, execute, forgotten, newLines } = await idleBench();
  forgotten.add('connection 2');
  clock.advance('10s');
  const executed = execute('three', 400);
  clock.advance('100ms');
  await executed;
  assert.ok(newLines().includes('connection 3: three'));
});

void test('a probe that fails costs a new connection', async () => {
  const { clock, execute, newLines } = await idleBench('PROBE');
  clock.advance('10s');
  await execute('three');
  assert.deepEqual(newLines().slice(-2), on(3, 'SETTINGS', 'three'));
});

void test('a connection that was used during a probe that fails stays open', async () => {
  const { clock, execute, forgotten, newLines } = await idleBench();
  forgotten.add('connection 2');
  clock.advance('10s');
  const probing = execute('three');
  await execute('four');
  clock.advance('250ms');
  await probing;
  const probed = [...on(2, 'PROBE'), ...on(1, 'PROBE', 'four')];
  assert.deepEqual(newLines(), [...probed, ...on(2, 'destroy'), ...on(1, 'three')]);
});

void test('of the connections that were idle for 60 s, only the one that was used last stays open', async () => {
  const { clock, execute, newLines } = await idleBench();
  clock.advance('40s');
  await execute('three');
  newLines();
  clock.advance('20s');
  assert.deepEqual(newLines(), on(1, 'end'));
  clock.advance('1d');
  assert.deepEqual(newLines(), []);
  assert.equal(clock.pendingTimers, 0);
});
