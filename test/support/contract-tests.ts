import { after, test } from 'node:test';
import { lockProviderContract, runStoreContract, type ContractCase } from 'cronlatch/contracts';
import { sqlFixture, transactionalFixture } from './contract-fixtures';
import { ContractPlaces } from './contract-places';
import {
  CONTRACT_STORES,
  describeVariant,
  isInEveryRun,
  RUN_STORES,
  type SqlVariant,
} from './contract-stores';
import {
  databaseOn,
  reportLack,
  sqliteDatabase,
  testOn,
  type ServerName,
  type TestDatabase,
} from './databases';
import { sqlRunsFixture, transactionalRunsFixture } from './run-store-fixtures';
import { sampleSize } from './sample-size';

/**
 * The full run tries as many names as in memory, but only in the first variant: all variants keep names in
 * the same way.
 */
function fuzzedNames(isFirst: boolean): number {
  return isFirst ? sampleSize({ fast: 300, full: 10_000 }) : 300;
}

/** Places for the contract's cases, closed when all tests of the file have run. */
function placesOf(variant: SqlVariant, create: () => TestDatabase | Promise<TestDatabase>): ContractPlaces {
  const places = new ContractPlaces(variant, create);
  after(() => places.dispose());
  return places;
}

/** A case of a contract as a test. A skipped case is announced at the end of the run. */
export function testCase(store: string, { name, skip, run }: ContractCase): void {
  if (skip !== undefined) reportLack(store, skip);
  void test(`${store}: ${name}`, { skip }, run);
}

/** Both contracts on SQLite, in every variant. */
export function testSqliteContracts(): void {
  const { sqlite } = CONTRACT_STORES;
  for (const [index, variant] of sqlite.variants.entries()) {
    const places = placesOf(variant, sqliteDatabase);
    for (const contractCase of [
      ...lockProviderContract(() => sqlFixture(places), { ...sqlite, fuzzedNames: fuzzedNames(index === 0) }),
      ...runStoreContract(() => sqlRunsFixture(places), RUN_STORES.sqlite),
    ])
      testCase(`sqlite, ${describeVariant(variant)}`, contractCase);
  }
}

/**
 * Both contracts on a server: with connections of its own, with those of applications whose sessions have the
 * server's default isolation level, and through its driver on one server. Or in all other variants.
 */
export function testServerContracts(server: ServerName, which: 'in every run' | 'the others'): void {
  const { lacks, variants } = CONTRACT_STORES[server];
  for (const [index, variant] of variants.entries()) {
    if (isInEveryRun(server, variant) !== (which === 'in every run')) continue;
    const places = placesOf(variant, () => databaseOn(server));
    for (const { name, run } of [
      ...lockProviderContract(() => transactionalFixture(places), {
        lacks,
        fuzzedNames: fuzzedNames(index === 0),
      }),
      ...runStoreContract(() => transactionalRunsFixture(places), { lacks: RUN_STORES[server].lacks }),
    ])
      testOn(server, `${describeVariant(variant)}: ${name}`, run);
  }
}
