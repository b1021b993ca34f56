import { test, type TestContext } from 'node:test';
import type { SettableClock } from 'cronlatch/testing';
import { DATABASE_NAMES, reportLack, type DatabaseName } from './databases';
import { testWithTables } from './ledger-databases';
import { BEGINNING, ledgerPlace, memoryStores, type LedgerPlace, type PlaceStores } from './ledger-place';
import { sqlStores } from './sql-ledger-stores';

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
  const onStores = async (stores: PlaceStores, t: TestContext): Promise<void> => {
    const { place, close } = ledgerPlace(stores);
    try {
      await body(place, t);
    } finally {
      await hurried(stores.clock, close());
    }
  };
  if (isShownBy('memory', name, lacks)) void test(`memory: ${name}`, (t) => onStores(memoryStores(now), t));
  for (const store of DATABASE_NAMES) {
    if (!isShownBy(store, name, lacks)) continue;
    testWithTables(store, name, async (database, t) => {
      const stores = await sqlStores(database, now);
      try {
        await onStores(stores, t);
      } finally {
        await hurried(stores.clock, stores.close());
      }
    });
  }
}

function isShownBy(store: LedgerStore, name: string, lacks: LedgerCaseOptions['lacks'] = {}): boolean {
  const why = lacks[store];
  if (why !== undefined) leaveOut(store, name, why);
  return why === undefined;
}

/** Announces that a kind of store cannot show a case, and why. */
export function leaveOut(store: LedgerStore, name: string, why: string): void {
  reportLack(store, why);
  void test(`${store}: ${name}`, { skip: why });
}
