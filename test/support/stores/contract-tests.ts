import { after, test } from 'node:test';
import { lockProviderContract, type ContractCase } from 'cronlatch/contracts';
import { sampleSize } from '../checks/sample-size';
import {
  databaseOn,
  reportLack,
  sqliteDatabase,
  isWanted,
  testOn,
  type ServerName,
  type TestDatabase,
} from '../databases/fresh';
import { sqlFixture, transactionalFixture } from './lock-fixtures';
import { ContractPlaces } from './places';
import { sqlRunsFixture, transactionalRunsFixture } from './run-fixtures';
import {
  CONTRACT_STORES,
  describeVariant,
  runOf,
  RUN_STORES,
  type ContractRun,
  type SqlVariant,
} from './variants';
import { runStoreContract } from '../run-store-contract';

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
  if (!isWanted(/\b(?:memory|sqlite)\b/.exec(store)?.[0])) return;
  if (skip !== undefined) reportLack(store, skip);
  void test(`${store}: ${name}`, { skip }, run);
}

/** Both contracts on SQLite. */
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

/** The contract of locks on SQLite, and on a server if one is named, with rows that a release deletes. */
export function testUniqueContract(server: 'sqlite' | ServerName): void {
  const { lacks, variants } = CONTRACT_STORES.unique;
  for (const variant of variants) {
    const places = placesOf(variant, () => (server === 'sqlite' ? sqliteDatabase() : databaseOn(server)));
    for (const contractCase of lockProviderContract(() => sqlFixture(places), { lacks }))
      if (server === 'sqlite') testCase(`unique, ${server}`, contractCase);
      else if (contractCase.skip === undefined)
        testOn(server, `unique: ${contractCase.name}`, contractCase.run);
      else testCase(`unique, ${server}`, contractCase);
  }
}

/** Both contracts on a server, in some of its variants. */
export function testServerContracts(server: ServerName, which: ContractRun): void {
  const { lacks, variants } = CONTRACT_STORES[server];
  for (const [index, variant] of variants.entries()) {
    if (runOf(server, variant) !== which) continue;
    const places = placesOf(variant, () => databaseOn(server));
    for (const { name, skip, run } of [
      ...lockProviderContract(() => transactionalFixture(places), {
        lacks,
        fuzzedNames: fuzzedNames(index === 0),
      }),
      ...runStoreContract(() => transactionalRunsFixture(places), { lacks: RUN_STORES[server].lacks }),
    ])
      if (skip === undefined) testOn(server, `${describeVariant(variant)}: ${name}`, run);
      else testCase(`${server}, ${describeVariant(variant)}`, { name, skip, run });
  }
}

/** The contract of locks that a server keeps in another way than by leases in a table. */
export function testLockContract(
  server: string,
  store: 'row' | 'redis' | 'zookeeper' | 'etcd',
  places: { fixture(): ReturnType<Parameters<typeof lockProviderContract>[0]>; dispose?(): Promise<void> },
  variant = store === server ? '' : store,
): void {
  after(() => places.dispose?.());
  const label = variant === '' ? '' : `${variant}: `;
  for (const { name, skip, run } of lockProviderContract(() => places.fixture(), CONTRACT_STORES[store]))
    if (skip === undefined) testOn(server, `${label}${name}`, run);
    else testCase(variant === '' ? server : `${variant} on ${server}`, { name, skip, run });
}
