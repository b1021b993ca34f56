import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
import { PooledSqlExecutor } from '#cronlatch/storage/sql/connections/pooled-sql-executor';
import { OwnServerConnections } from '#cronlatch/storage/sql/connections/server-connections';
import type { DriverSession } from '#cronlatch/storage/sql/connections/server-driver';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';

const LIMITS = { clock: systemClock, statementTimeoutMs: 1000 };
const OPTIONS = { timeoutMs: 1000, urgent: false };
const ANSWER = { rows: [], affectedRows: 1, insertId: 0, inTransaction: false };

const driver = {
  dialect: mysql,
  sessionSettings: () => ['SETTINGS'],
  begin: 'BEGIN',
  beginAt: () => ['BEGIN'],
  commit: 'COMMIT',
  rollBack: 'ROLLBACK',
  probe: 'PROBE',
  idleLimit: { begin: () => '', end: undefined },
  rowLock: { session: () => [], begin: () => '' },
};

/** Connections whose ends are reported late. Each logs what it is asked to do. */
function bench(failing: string) {
  const log: string[] = [];
  let opened = 0;
  const open = () => {
    const name = `connection ${(opened += 1)}`;
    let isDestroyed = false;
    const session: DriverSession = {
      send({ text }) {
        log.push(`${name}: ${text}`);
        if (isDestroyed) return Promise.reject(new Error('closed'));
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
  const executor = new PooledSqlExecutor(new OwnServerConnections(driver, open, LIMITS), mysql, systemClock);
  const execute = (text: string) => executor.execute({ id: text, text, values: [] }, OPTIONS);
  return { log, execute };
}

void test('a connection stays open for the next statement', async () => {
  const { log, execute } = bench('nothing');
  await execute('one');
  await execute('two');
  assert.deepEqual(log, ['connection 1: SETTINGS', 'connection 1: one', 'connection 1: two']);
});

void test('a connection that was destroyed is not used again, even before its end is reported', async () => {
  const { log, execute } = bench('one');
  await assert.rejects(execute('one'), /lost/);
  await execute('two');
  assert.deepEqual(log, [
    'connection 1: SETTINGS',
    'connection 1: one',
    'connection 1: destroy',
    'connection 2: SETTINGS',
    'connection 2: two',
  ]);
});

void test('a connection whose set-up fails is destroyed', async () => {
  const { log, execute } = bench('SETTINGS');
  await assert.rejects(execute('one'), /lost/);
  assert.deepEqual(log, ['connection 1: SETTINGS', 'connection 1: destroy']);
});
