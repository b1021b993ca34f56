import assert from 'node:assert/strict';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import type { LockConfiguration } from 'cronlatch';
import { systemClock, type LockProvider } from 'cronlatch/provider';
import { testOnServer, type ServerBench } from '../../support/benches/server';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../../support/faults/tcp-proxy';

const GOODS: LockConfiguration = { name: 'goods', lockAtMostFor: '2s' };
const AHEAD_MS = 60_000;

/** Tries to lock the goods in one of three instances: how to release them, or `undefined` if they are locked. */
export type TryLock = (instance: 0 | 1 | 2) => Promise<Release | undefined>;
type Release = () => Promise<unknown>;

/** Where the locks are tried. The clock of each instance is a minute ahead of the previous one's. */
interface Place {
  readonly bench: ServerBench;
  /** The way of all instances to the server. */
  readonly proxy: TcpProxy;
  /** The table with the locks. */
  readonly table: string;
}

export interface Trap {
  /** Tries to get the lock by hand on a connection of its own, in its own process. */
  readonly byHand: (session: Session, instance: number) => Promise<Release | undefined>;
  /** Holds for our locks, and for the lock that is written by hand fails with the message `failure`. */
  readonly property: (tryLock: TryLock, place: Place) => Promise<void>;
  readonly failure: string;
  /** What an earlier process left in the table of the lock that is written by hand. */
  readonly leftByHand?: string;
}

/** One connection to the table `by_hand`, and the clock of its host. */
export interface Session {
  readonly send: (sql: string, values?: readonly unknown[]) => Promise<RowDataPacket[]>;
  readonly nowMs: () => number;
}

/** Ours: each kind of lock that a guard can use. */
const KINDS: Readonly<Record<string, { readonly keepRows: boolean }>> = {
  'lease row': { keepRows: true },
  'unique row': { keepRows: false },
};

export function testTrap(name: string, trap: Trap): void {
  for (const server of ['mysql', 'mariadb'] as const) {
    testOnServer(server, `${name}: written by hand, it fails`, async (bench) => {
      await bench.database.ask(
        'CREATE TABLE by_hand (name VARCHAR(64) PRIMARY KEY, owner VARCHAR(255), expires_at BIGINT) ENGINE = InnoDB',
      );
      if (trap.leftByHand !== undefined) await bench.database.ask(trap.leftByHand);
      const place = await placeOn(bench, 'by_hand');
      const sessions = await Promise.all([0, 1, 2].map((instance) => session(place, instance)));
      const tryLock: TryLock = async (instance) => await trap.byHand(sessions[instance] as Session, instance);
      await assert.rejects(trap.property(tryLock, place), { name: 'AssertionError', message: trap.failure });
    });
    for (const [kind, options] of Object.entries(KINDS))
      testOnServer(server, `${name}: ${kind} holds`, async (bench) => {
        const place = await placeOn(bench, 'shedlock');
        const url = throughProxy(bench.database.url, place.proxy);
        const providers: LockProvider[] = [0, 1, 2].map((instance) =>
          bench.provider(
            { ...options, clock: { ...systemClock, wallMs: () => Date.now() + instance * AHEAD_MS } },
            bench.dataSource({ url }),
          ),
        );
        const tryLock: TryLock = async (instance) => {
          const lock = await providers[instance]?.lock(GOODS);
          return lock && (() => lock.unlock());
        };
        await trap.property(tryLock, place);
      });
  }
}

async function placeOn(bench: ServerBench, table: string): Promise<Place> {
  const proxy = bench.closeAtEnd(await tcpProxy(targetOf(bench.database.url)));
  return { bench, proxy, table };
}

async function session({ bench, proxy }: Place, instance: number): Promise<Session> {
  const connection: Connection = await createConnection({ uri: throughProxy(bench.database.url, proxy) });
  connection.on('error', () => {}); // Each statement on it rejects.
  bench.closeAtEnd({ close: () => Promise.resolve(connection.destroy()) });
  await connection.query('SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1');
  return {
    send: async (sql, values = []) => (await connection.query<RowDataPacket[]>(sql, [...values]))[0],
    nowMs: () => Date.now() + instance * AHEAD_MS,
  };
}

export const TWO_HOLDERS = 'two instances hold the lock';

export async function secondIsRefused(tryLock: TryLock): Promise<void> {
  assert.ok(await tryLock(0));
  assert.ok((await tryLock(1)) === undefined, TWO_HOLDERS);
}

/** Contention is the only failure that means "held". */
export async function unlessHeld<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt;
  } catch (error) {
    const { code } = error as { code?: string };
    // MariaDB answers NOWAIT as MySQL answers a wait that took too long.
    if (['ER_DUP_ENTRY', 'ER_LOCK_WAIT_TIMEOUT', 'ER_LOCK_NOWAIT'].includes(code ?? '')) return undefined;
    throw error;
  }
}
