/** Locks whose row names the holder, as they are often written by hand. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { eventually } from '../../support/clocks/eventually';
import { secondIsRefused, testTrap, TWO_HOLDERS, unlessHeld, type Session } from './trap';

const INSERT = `INSERT INTO by_hand VALUES ('goods', ?, ?)`;
const LEASE_MS = 2000;

const deleteOwn = (session: Session, owner: number | string) => () =>
  session.send('DELETE FROM by_hand WHERE name = ? AND owner = ?', ['goods', String(owner)]);

testTrap('a database that is down is an error, and not a lock that is held', {
  byHand: async (session, owner) => {
    try {
      await session.send(INSERT, [owner, session.nowMs() + LEASE_MS]);
      return deleteOwn(session, owner);
    } catch {
      return undefined; // "Another instance has it", after any error.
    }
  },
  failure: 'the job is skipped for as long as the database is down',
  property: async (tryLock, { proxy }) => {
    await proxy.close();
    const answer = await tryLock(0).catch((error: unknown) => error);
    assert.ok(answer instanceof Error, 'the job is skipped for as long as the database is down');
  },
});

testTrap('two processes of one host are two owners', {
  byHand: async (session) => {
    const owner = `${hostname()}/main`; // The host and the name of the thread.
    if ((await unlessHeld(session.send(INSERT, [owner, session.nowMs() + LEASE_MS]))) === undefined) {
      const [row] = await session.send(`SELECT owner FROM by_hand WHERE name = 'goods'`);
      if (row?.['owner'] !== owner) return undefined; // Its own lock is re-entrant.
    }
    return deleteOwn(session, owner);
  },
  failure: TWO_HOLDERS,
  property: secondIsRefused,
});

let seen = 0;

testTrap('of two thieves of an expired lock, one gets it', {
  leftByHand: `INSERT INTO by_hand VALUES ('goods', 'crashed', 0)`,
  byHand: async (session, thief) => {
    const found = async (): Promise<unknown> => (await session.send(`SELECT * FROM by_hand`))[0]?.['owner'];
    assert.equal(await found(), 'crashed');
    seen += 1;
    await eventually(() => seen % 2 === 0, 'both thieves have seen the expired row');
    if (thief === 1) await eventually(async () => (await found()) === '0', 'the first thief has the lock');
    await session.send(`DELETE FROM by_hand WHERE name = 'goods'`); // Without the owner whose lease has expired.
    const granted = await unlessHeld(session.send(INSERT, [thief, session.nowMs() + LEASE_MS]));
    return granted && deleteOwn(session, thief);
  },
  failure: 'two thieves hold the lock',
  property: async (tryLock, { bench, table }) => {
    if (table === 'shedlock') {
      assert.ok(await tryLock(2));
      await bench.database.ask('UPDATE shedlock SET lock_until = locked_at');
    }
    const [first, second] = await Promise.all([tryLock(0), tryLock(1)]);
    assert.ok(first ?? second);
    assert.ok(!(first && second), 'two thieves hold the lock');
  },
});

testTrap('a clock that is a minute ahead ends no lease', {
  byHand: async (session, owner) => {
    const [granted, ends] = [session.nowMs(), session.nowMs() + LEASE_MS];
    const change =
      'UPDATE owner = IF(expires_at <= ?, VALUES(owner), owner), expires_at = IF(owner = VALUES(owner), VALUES(expires_at), expires_at)';
    await session.send(`${INSERT} ON DUPLICATE KEY ${change}`, [owner, ends, granted]);
    const [row] = await session.send(`SELECT owner FROM by_hand WHERE name = 'goods'`);
    return row?.['owner'] === String(owner) ? deleteOwn(session, owner) : undefined;
  },
  failure: TWO_HOLDERS,
  property: secondIsRefused,
});

testTrap('the lock of a dead holder is free after its lease', {
  byHand: async (session, owner) => {
    const granted = await unlessHeld(session.send(INSERT, [owner, null])); // For as long as the row exists.
    return granted && deleteOwn(session, owner);
  },
  failure: 'not within 10 s: the lock of the dead holder',
  property: async (tryLock) => {
    assert.ok(await tryLock(0)); // And it dies.
    assert.equal(await tryLock(1), undefined);
    await eventually(async () => (await tryLock(1)) !== undefined, 'the lock of the dead holder', 10_000);
  },
});
