// More of this subject: storage/contracts.row.test.ts, faults/storage/row-lock, faults/processes/row-lock-holder.test.ts, faults/traps/row-locks.test.ts, docs/row-lock.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockLostError, LockStorageError } from 'cronlatch';
import * as mysql2 from 'cronlatch/mysql2';
import * as pg from 'cronlatch/pg';
import { SettableClock } from 'cronlatch/testing';
import { RowLockProvider } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { TRICKY_NAMES } from '#cronlatch/contracts/names';
import { SqlRowLockProvider } from '#cronlatch/storage/sql/row-lock/row-lock-provider';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { closing } from '../../support/benches/closing';
import { aborted, JOB, onSending, testRowLocks } from '../../support/benches/row-locks';
import { refused } from '../../support/checks/refused';
import { eventually } from '../../support/clocks/eventually';
import { databaseOn, sqliteDatabase, testOn } from '../../support/databases/fresh';

testRowLocks(
  'an attempt that finds no free connection fails, names maxConnections and ran nothing',
  async (locks) => {
    const provider = locks.provider({ maxConnections: 2, statementTimeout: '3s' });
    const held = [await provider.lock({ ...JOB, name: 'a' }), await provider.lock({ ...JOB, name: 'b' })];
    await assert.rejects(provider.lock({ ...JOB, name: 'c' }), (error) => {
      assert.ok(error instanceof LockStorageError);
      assert.equal(error.outcome, 'nothing-ran');
      assert.match(error.message, /all 2 are in use.*maxConnections/);
      return true;
    });
    assert.equal(await held[0]?.unlock(), true);
    assert.ok(await provider.lock({ ...JOB, name: 'c' }));
  },
);

testRowLocks(
  'a tick that waits for a connection until its lock is free again does not run a second time (P4)',
  async (locks) => {
    const tick = { ...JOB, lockAtLeastFor: '1s' };
    const waiting = locks.provider({ maxConnections: 2, statementTimeout: '60s' });
    const busy = [await waiting.lock({ ...JOB, name: 'a' }), await waiting.lock({ ...JOB, name: 'b' })];
    const late = waiting.lock(tick, { tickLateByMs: 0 });
    const other = locks.provider();
    assert.equal(await (await other.lock(tick, { tickLateByMs: 0 }))?.unlock(), true);
    await eventually(async () => (await (await other.lock(JOB))?.unlock()) === true, 'the lock is free');
    await busy[0]?.unlock();
    await assert.rejects(late, /longer than its lockAtLeastFor of 1000 ms/);
  },
);

testRowLocks(
  'lockAtLeastFor of the last holder refuses a lock, and names the holder once a minute',
  async (locks) => {
    const clock = new SettableClock();
    const provider = locks.provider();
    const other = locks.provider({ clock });
    const lock = await provider.lock({ ...JOB, lockAtLeastFor: '5m' });
    assert.equal(await lock?.unlock(), true);
    const seen: { heldBy: string; heldUntil: Date }[] = [];
    const observer = { refused: (holder: (typeof seen)[number]) => void seen.push(holder) };
    for (let attempt = 1; attempt <= 3; attempt += 1)
      assert.equal(await other.lock(JOB, observer), undefined);
    assert.equal(seen.length, 1);
    assert.match(seen[0]?.heldBy ?? '', new RegExp(`/${process.pid}/.*/released$`));
    const keptForMs = (seen[0]?.heldUntil.getTime() ?? 0) - Date.now();
    assert.ok(keptForMs > 240_000 && keptForMs <= 301_000, `${keptForMs}`);
    clock.advance('1m');
    assert.equal(await other.lock(JOB, observer), undefined);
    assert.equal(seen.length, 2);
  },
);

testRowLocks(
  'a row that an operator deleted or changed while its lock was free is found as it is',
  async (locks) => {
    const provider = locks.provider();
    const first = await provider.lock(JOB);
    await first?.unlock();
    await locks.database.ask('DELETE FROM cronlatch_row_lock');
    const second = await provider.lock(JOB);
    assert.ok((second?.fencingToken ?? 0) > (first?.fencingToken ?? Infinity));
    await second?.unlock();
    const tomorrow =
      locks.server === 'postgres' ? `now() + interval '1 day'` : 'UTC_TIMESTAMP() + INTERVAL 1 DAY';
    await locks.database.ask(`UPDATE cronlatch_row_lock SET lock_until = ${tomorrow}`);
    assert.equal(await provider.lock(JOB), undefined);
  },
);

testRowLocks('a holder whose successor has released too does not write its own release', async (locks) => {
  const provider = locks.provider();
  const stale = await provider.lock(JOB);
  // As if its transaction had ended unnoticed: the row holds the release of a later holder.
  const [row] = await locks.database.ask(`SELECT name FROM cronlatch_row_lock WHERE name = '${JOB.name}'`);
  assert.equal(row?.['name'], JOB.name);
  await locks.stranger.killSessions();
  await aborted(stale?.signal ?? AbortSignal.abort());
  const next = await provider.lock(JOB);
  assert.equal(await next?.unlock(), true);
  assert.equal(await stale?.unlock(), false);
  const [after] = await locks.database.ask(
    `SELECT fencing_token FROM cronlatch_row_lock WHERE name = '${JOB.name}'`,
  );
  assert.equal(Number(after?.['fencing_token']), next?.fencingToken);
});

testRowLocks(
  'wait lets the database wait for the holder, and refuses the lock when that was too long',
  async (locks) => {
    const holder = await locks.provider().lock({ ...JOB, lockAtLeastFor: 1 });
    const patient = locks.provider({ wait: '1s' });
    assert.equal(await patient.lock(JOB), undefined);
    const waiting = locks.provider({ wait: '60s' }).lock(JOB);
    await eventually(async () => (await locks.stranger.countSessions()) >= 3, 'the second attempt waits');
    assert.equal(await holder?.unlock(), true);
    const lock = await waiting;
    assert.ok((lock?.fencingToken ?? 0) > (holder?.fencingToken ?? Infinity));
    assert.equal(await lock?.unlock(), true);
  },
);

testRowLocks(
  'idle connections are closed, held ones stay open, and close() loses held locks',
  async (locks) => {
    const provider = locks.provider();
    const lock = await provider.lock(JOB);
    const other = await provider.lock({ ...JOB, name: 'other' });
    await other?.unlock();
    await eventually(async () => (await locks.stranger.countSessions()) === 1, 'one connection is left');
    assert.equal(lock?.signal.aborted, false);
    await provider.close();
    assert.ok(lock?.signal.reason instanceof LockLostError);
    await eventually(async () => (await locks.stranger.countSessions()) === 0, 'no connection is left');
  },
);

testRowLocks('a grant that arrives too late is an error, and frees the lock', async (locks) => {
  const clock = new SettableClock();
  const source = new DataSource({ type: locks.server, url: locks.database.url });
  const stalling = onSending(
    databaseOf(source),
    (text) => void (text.includes('FOR UPDATE') && clock.stall('9m')),
  );
  const provider = new SqlRowLockProvider(stalling, { clock });
  await assert.rejects(provider.lock(JOB), /Lock 'close-day' was granted too late/);
  assert.ok(await locks.provider().lock(JOB));
  await provider.close();
});

testRowLocks(
  'refused attempts do not wait for the holder, and leave no transaction and no connection behind',
  async (locks) => {
    const held = await locks.provider().lock(JOB);
    const sent: string[] = [];
    const source = new DataSource({ type: locks.server, url: locks.database.url });
    const other = new SqlRowLockProvider(
      onSending(databaseOf(source), (text) => void sent.push(text)),
      { maxConnections: 2 },
    );
    for (let attempt = 1; attempt <= 5; attempt += 1) assert.equal(await other.lock(JOB), undefined);
    if (locks.server !== 'postgres') {
      assert.ok(sent.some((text) => text.includes('NOWAIT')));
      // It would wait for the transaction that has locked its row.
      assert.ok(!sent.some((text) => text.includes('INSERT')));
    }
    const here = `= '${locks.database.name}'`;
    const open = {
      // Its information_schema.innodb_trx fails while any session sends a statement with four-byte text.
      mysql: `SELECT t.thread_id FROM performance_schema.events_transactions_current t
        JOIN performance_schema.threads p ON p.thread_id = t.thread_id
        WHERE p.processlist_db ${here} AND t.state = 'ACTIVE' AND t.autocommit = 'NO'`,
      mariadb: `SELECT t.trx_id FROM information_schema.innodb_trx t JOIN information_schema.processlist p
        ON p.id = t.trx_mysql_thread_id WHERE p.db ${here}`,
      postgres: `SELECT pid FROM pg_stat_activity WHERE datname ${here} AND state = 'idle in transaction'`,
    }[locks.server];
    // Only the holder's. MariaDB refreshes its list a few times a second.
    await eventually(async () => (await locks.database.ask(open)).length === 1, 'one transaction is open');
    assert.equal(await held?.unlock(), true);
    assert.ok(await other.lock({ ...JOB, name: 'other' }));
    assert.ok(await other.lock(JOB));
    await other.close();
  },
);

testRowLocks('verifySchema reports every problem of the table', async (locks) => {
  const { url } = locks.database;
  const verify = () =>
    (locks.server === 'postgres' ? pg : mysql2).verifySchema(url, { tables: ['row-lock'] });
  const provider = locks.provider();
  assert.deepEqual(await verify(), []);
  await provider.check();
  await provider.probe(1000);
  await locks.database.ask('ALTER TABLE cronlatch_row_lock DROP COLUMN fencing_token');
  const codes = (await verify()).map(({ code }) => code);
  assert.deepEqual(codes, ['missing-column']);
  await locks.database.ask('DROP TABLE cronlatch_row_lock');
  await assert.rejects(locks.provider().check(), /npx cronlatch init --tables row-lock\.$/);
});

testRowLocks(
  'names that look or sort alike are separate locks',
  async (locks) => {
    const provider = locks.provider({ maxConnections: 22 });
    for (let i = 0; i < TRICKY_NAMES.length; i += 20) {
      const names = TRICKY_NAMES.slice(i, i + 20);
      const held = await Promise.all(names.map((name) => provider.lock({ ...JOB, name })));
      assert.ok(held.every((lock) => lock !== undefined));
      assert.ok((await Promise.all(held.map((lock) => lock?.unlock()))).every(Boolean));
    }
    const rows = await locks.database.ask(
      `SELECT name FROM cronlatch_row_lock WHERE name <> 'cronlatch-place'`,
    );
    assert.equal(rows.length, new Set(TRICKY_NAMES).size);
  },
  ['mysql', 'postgres'],
);

for (const [server, { createTables, verifySchema, RowLockProvider: Provider }] of [
  ['mysql', mysql2],
  ['postgres', pg],
] as const)
  testOn(server, 'a provider from an address needs only its table', async () => {
    await using database = closing(await databaseOn(server));
    const { url } = database;
    await using provider = closing(new Provider(url, { rowLockTable: 'my_locks' }));
    const options = { tables: ['row-lock'], rowLockTable: 'my_locks' } as const;
    await createTables(url, options);
    assert.deepEqual(await verifySchema(url, options), []);
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
  });

void test('SQLite and options that make no sense are refused', async () => {
  const sqlite = sqliteDatabase();
  refused(() => new RowLockProvider(new DataSource(sqlite.options)), 'SQLite', 'lockProvider');
  await sqlite.dispose();
  const source = new DataSource({ type: 'mysql', url: 'mysql://user@localhost/app' });
  for (const maxConnections of [1, 0, 2.5, NaN])
    refused(() => new RowLockProvider(source, { maxConnections }), 'maxConnections');
  for (const wait of [500, '1500ms', -1]) refused(() => new RowLockProvider(source, { wait }), 'wait');
  refused(() => new RowLockProvider(source, { rowLockTable: 'a b' }), 'rowLockTable');
});
