import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { Connections } from '#cronlatch/storage/sql/connections/connections';
import type {
  SqlConnection,
  SqlDecide,
  SqlResult,
  SqlStatement,
} from '#cronlatch/storage/sql/statements/statement';
import { ServerSession } from '#cronlatch/storage/sql/connections/server-session';

const LIMIT = { timeoutMs: 1000 };
const READ = statement('read');
const WRITE = statement('write');
const writes: SqlDecide<string> = () => ({ value: 'decided', statements: [WRITE] });

function statement(text: string): SqlStatement {
  return { id: text, text, values: [] };
}

type Reply = Partial<SqlResult> | Error;

/** One connection, on which some statements get faulty replies. */
function bench({ faults = {} }: { faults?: Record<string, Reply[]> }) {
  const log: string[] = [];
  let inTransaction = false;
  const send = ({ text }: SqlStatement, { prepared }: { prepared: boolean }): Promise<SqlResult> => {
    log.push(prepared ? `${text} (prepared)` : text);
    if (text === 'BEGIN') inTransaction = true;
    if (text === 'COMMIT' || text === 'ROLLBACK') inTransaction = false;
    const reply = faults[text]?.shift() ?? {};
    if (reply instanceof Error) return Promise.reject(reply);
    return Promise.resolve({ rows: [], affectedRows: 1, insertId: 0, inTransaction, ...reply });
  };
  const driver = {
    dialect: mysql,
    readOnly: '',
    variables: '',
    sessionSettings: () => [],
    setsPooledSessions: true,
    begin: 'BEGIN',
    beginAt: () => assert.fail(),
    commit: 'COMMIT',
    rollBack: 'ROLLBACK',
    probe: 'PROBE',
    idleLimit: { begin: () => '', end: undefined },
    rowLock: { session: () => [], begin: () => '' },
  };
  const driverSession = { send, onEnd: () => {}, end: () => {}, destroy: () => {} };
  const session = new ServerSession(driverSession, { driver, clock: systemClock });
  const connection: SqlConnection = {
    execute: (sent, endsAtMs) => session.execute(sent, endsAtMs),
    transaction: (first, decide, endsAtMs) => session.transaction(first, decide, endsAtMs),
    rollBack: (endsAtMs) => session.rollBack(endsAtMs),
    release: () => void log.push('released'),
    destroy: () => void log.push('destroyed'),
  };
  const source = { size: 1, open: () => connection, close: () => Promise.resolve() };
  const connections = new Connections(source, mysql, systemClock);
  const transact = <T>(decide: SqlDecide<T>): Promise<T> =>
    connections.run((lent, endsAtMs) => lent.transaction(READ, decide, endsAtMs), LIMIT);
  const read = (): Promise<unknown> =>
    connections.run((lent, endsAtMs) => lent.execute(READ, endsAtMs), LIMIT);
  return { log, transact, read };
}

const failure = (errno: number): Error => Object.assign(new Error(`error ${errno}`), { errno });
const lost = (): Error => Object.assign(new Error('lost'), { code: 'PROTOCOL_CONNECTION_LOST' });

void test('a transaction is begun, decided on, and committed', async () => {
  const { log, transact } = bench({});
  assert.equal(await transact(writes), 'decided');
  assert.deepEqual(log, ['BEGIN', 'read (prepared)', 'write (prepared)', 'COMMIT', 'released']);
});

void test('a transaction also ends if there is nothing to write', async () => {
  const { log, transact } = bench({});
  await transact(() => ({ value: 0, statements: [] }));
  assert.deepEqual(log, ['BEGIN', 'read (prepared)', 'COMMIT', 'released']);
});

void test('the error of a decision is rethrown unchanged, and nothing is written', async () => {
  const { log, transact } = bench({});
  const thrown = { not: 'an error' };
  const decide = (): never => {
    throw thrown as unknown as Error;
  };
  assert.equal(await transact(decide).catch((error: unknown) => error), thrown);
  assert.deepEqual(log, ['BEGIN', 'read (prepared)', 'ROLLBACK', 'released']);
});

void test('after a deadlock and its rollback, the connection is used again', async () => {
  const { log, transact } = bench({ faults: { write: [failure(1213)] } });
  await assert.rejects(transact(writes), { progress: 'sent', message: 'error 1213' });
  assert.deepEqual(log.slice(-2), ['ROLLBACK', 'released']);
});

void test('if the rollback also fails, the connection is destroyed', async () => {
  for (const reply of [lost(), { inTransaction: true }]) {
    const { log, transact } = bench({ faults: { write: [failure(1213)], ROLLBACK: [reply] } });
    await assert.rejects(transact(writes), { message: 'error 1213' });
    assert.deepEqual(log.slice(-2), ['ROLLBACK', 'destroyed']);
  }
});

for (const text of ['BEGIN', 'read', 'write']) {
  void test(`a connection that is lost at '${text}' has committed nothing`, async () => {
    const { log, transact } = bench({ faults: { [text]: [lost()] } });
    await assert.rejects(transact(writes), { progress: 'rolled-back' });
    assert.equal(log.at(-1), 'destroyed');
    assert.ok(!log.includes('COMMIT'));
  });
}

void test('if COMMIT gets no answer or does not end the transaction, the outcome is unknown', async () => {
  for (const [reply, message] of [
    [lost(), /^lost$/],
    [{ inTransaction: true }, /still inside a transaction after COMMIT/],
  ] as const) {
    const { log, transact } = bench({ faults: { COMMIT: [reply] } });
    await assert.rejects(transact(writes), { progress: 'sent', message });
    assert.deepEqual(log.slice(-2), ['COMMIT', 'destroyed']);
  }
});

void test('a connection that is not inside a transaction when it should be is an error', async () => {
  for (const [text, progress] of [
    ['BEGIN', 'rolled-back'],
    ['write', 'sent'],
  ] as const) {
    const { log, transact } = bench({ faults: { [text]: [{ inTransaction: false }] } });
    await assert.rejects(transact(writes), { progress });
    assert.equal(log.at(-1), 'destroyed');
  }
});

void test('a connection that is inside a transaction when it should not be is an error', async () => {
  const { log, read } = bench({ faults: { read: [{ inTransaction: true }] } });
  await assert.rejects(read(), { progress: 'rolled-back', message: /left inside a transaction/ });
  assert.deepEqual(log, ['read (prepared)', 'destroyed']);
});

void test('if a statement cannot be prepared, the whole transaction is repeated without preparing', async () => {
  const { log, transact, read } = bench({ faults: { write: [failure(1615)] } });
  assert.equal(await transact(writes), 'decided');
  await read();
  const first = ['BEGIN', 'read (prepared)', 'write (prepared)', 'ROLLBACK'];
  const again = ['BEGIN', 'read', 'write', 'COMMIT', 'released'];
  assert.deepEqual(log, [...first, ...again, 'read', 'released']);
});
