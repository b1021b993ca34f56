import { test, type TestContext } from 'node:test';
import type { SettableClock } from 'cronlatch/testing';
import { DATABASE_NAMES, reportLack, type DatabaseName } from '../databases/fresh';
import { onStores } from '../servers/test-on';
import { testWithTables } from './ledger-databases';
import { sqlStores } from './ledger-on-sql';
import { BEGINNING, ledgerPlace, memoryStores, type LedgerPlace, type PlaceStores } from './ledger-place';

export type LedgerStore = 'memory' | DatabaseName;

export interface LedgerCaseOptions {
  /** The initial time of the clocks. */
  readonly now?: string;
  /** Why a store cannot show it. */
  readonly lacks?: Partial<Record<LedgerStore, string>>;
}

/**
 * Limits in the time of the test would never end while that stands still, so after two real seconds it moves
 * on.
 */
async function hurried(clock: SettableClock, closing: Promise<unknown>): Promise<void> {
  const hurry = setInterval(() => clock.advance('10s'), 2000);
  try {
    await closing;
  } finally {
    clearInterval(hurry);
  }
}

/** One case of the ledger, on every kind of store, each time in its own place. */
export function testLedger(
  name: string,
  body: (place: LedgerPlace, t: TestContext) => Promise<void>,
  { now = BEGINNING, lacks = {} }: LedgerCaseOptions = {},
): void {
  const runIn = async (stores: PlaceStores, t: TestContext): Promise<void> => {
    const { place, close } = ledgerPlace(stores);
    try {
      await body(place, t);
    } finally {
      await hurried(stores.clock, close());
    }
  };
  onStores(['memory', ...DATABASE_NAMES] as const, name, (store) => {
    const why = lacks[store];
    if (why !== undefined) leaveOut(store, name, why);
    else if (store === 'memory') void test(`memory: ${name}`, (t) => runIn(memoryStores(now), t));
    else
      testWithTables(store, name, async (database, t) => {
        const stores = await sqlStores(database, now);
        try {
          await runIn(stores, t);
        } finally {
          await hurried(stores.clock, stores.close());
        }
      });
  });
}

/** Announces that a kind of store cannot show a case, and why. */
export function leaveOut(store: LedgerStore, name: string, why: string): void {
  reportLack(store, why);
  void test(`${store}: ${name}`, { skip: why });
}
