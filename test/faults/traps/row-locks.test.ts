/** Locks that are row locks of the database, as they are often written by hand. */
import assert from 'node:assert/strict';
import { secondIsRefused, testTrap, TWO_HOLDERS, unlessHeld, type Session } from './trap';

const ROW = `SELECT * FROM by_hand WHERE name = 'goods' FOR UPDATE`;
const EXISTS = `INSERT INTO by_hand VALUES ('goods', NULL, NULL)`;

const commit = (session: Session) => () => session.send('COMMIT');

testTrap('a lock whose row is missing has one holder', {
  byHand: async (session) => {
    await session.send('START TRANSACTION');
    if ((await unlessHeld(session.send(ROW))) !== undefined) return commit(session);
    await session.send('ROLLBACK');
    return undefined;
  },
  failure: TWO_HOLDERS,
  property: secondIsRefused,
});

testTrap('a lock lasts longer than the statement that took it', {
  leftByHand: EXISTS,
  byHand: async (session) => {
    // In autocommit, each statement is a transaction of its own.
    const row = await unlessHeld(session.send(ROW));
    return row && commit(session);
  },
  failure: TWO_HOLDERS,
  property: secondIsRefused,
});

testTrap('a refused instance leaves no transaction open', {
  leftByHand: EXISTS,
  byHand: async (session) => {
    await session.send('START TRANSACTION');
    const row = await unlessHeld(session.send(`${ROW} NOWAIT`));
    return row && commit(session); // No ROLLBACK after a refusal.
  },
  failure: 'the migration waits for a transaction that is open',
  property: async (tryLock, { bench, table }) => {
    const release = await tryLock(0);
    assert.equal(await tryLock(1), undefined);
    await release?.();
    // A migration waits for every transaction that has used the table, for as long as it is open.
    await bench.database.ask('SET lock_wait_timeout = 1');
    const migration = await unlessHeld(bench.database.ask(`ALTER TABLE ${table} COMMENT = 'migrated'`));
    assert.ok(migration, 'the migration waits for a transaction that is open');
  },
});
