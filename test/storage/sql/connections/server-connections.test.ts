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

void test('a connection stays open for the next statement', async () => {
  const { log, execute } = bench('nothing');
  await execute('one');
  await execute('two');
  assert.deepEqual(log, [
    'connection 1: VARIABLES',
    'connection 1: SETTINGS',
    'connection 1: one',
    'connection 1: two',
  ]);
});

void test('a connection that was destroyed is not used again, even before its end is reported', async () => {
  const { log, execute } = bench('one');
  await assert.rejects(execute('one'), /lost/);
  await execute('two');
  assert.deepEqual(log, [
    'connection 1: VARIABLES',
    'connection 1: SETTINGS',
    'connection 1: one',
    'connection 1: destroy',
    'connection 2: VARIABLES',
    'connection 2: SETTINGS',
    'connection 2: two',
  ]);
});

void test('a connection whose set-up fails is destroyed', async () => {
  const { log, execute } = bench('SETTINGS');
  await assert.rejects(execute('one'), /lost/);
  assert.deepEqual(log, ['connection 1: VARIABLES', 'connection 1: SETTINGS', 'connection 1: destroy']);
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
  assert.deepEqual(newLines(), ['connection 2: three']);
  clock.advance('5s');
  await execute('four');
  await execute('five');
  assert.deepEqual(newLines(), ['connection 2: PROBE', 'connection 2: four', 'connection 2: five']);
});

void test('connections that are gone silently cost a probe, and the statement is sent once, on a new one', async () => {
  const { clock, execute, forgotten, newLines } = await idleBench();
  for (const name of ['connection 1', 'connection 2']) forgotten.add(name);
  clock.advance('10s');
  const executed = execute('three', 4000);
  clock.advance('999ms');
  assert.deepEqual(newLines(), ['connection 2: PROBE']);
  clock.advance('1ms');
  await executed;
  assert.deepEqual(newLines(), [
    ...['connection 2: destroy', 'connection 1: destroy'],
    ...['connection 3: VARIABLES', 'connection 3: SETTINGS', 'connection 3: three'],
  ]);
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
  assert.deepEqual(newLines().slice(-2), ['connection 3: SETTINGS', 'connection 3: three']);
});

void test('a connection that was used during a probe that fails stays open', async () => {
  const { clock, execute, forgotten, newLines } = await idleBench();
  forgotten.add('connection 2');
  clock.advance('10s');
  const probing = execute('three');
  await execute('four');
  clock.advance('250ms');
  await probing;
  assert.deepEqual(newLines(), [
    ...['connection 2: PROBE', 'connection 1: PROBE', 'connection 1: four'],
    ...['connection 2: destroy', 'connection 1: three'],
  ]);
});

void test('of the connections that were idle for 60 s, only the one that was used last stays open', async () => {
  const { clock, execute, newLines } = await idleBench();
  clock.advance('40s');
  await execute('three');
  newLines();
  clock.advance('20s');
  assert.deepEqual(newLines(), ['connection 1: end']);
  clock.advance('1d');
  assert.deepEqual(newLines(), []);
  assert.equal(clock.pendingTimers, 0);
});
