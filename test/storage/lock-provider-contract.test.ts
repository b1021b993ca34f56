import { lockProviderContract } from 'cronlatch/testing';
import { memoryFixture, sqlFixture, transactionalFixture } from '../support/contract-fixtures';
import { CONTRACT_STORES, describeVariant } from '../support/contract-stores';
import { placesOf, testCase } from '../support/contract-tests';
import { databaseOn, SERVER_NAMES, sqliteDatabase, testOn } from '../support/databases';

const { memory, sqlite, ...servers } = CONTRACT_STORES;

for (const contractCase of lockProviderContract(memoryFixture, { ...memory, fuzzedNames: 10_000 }))
  testCase('memory', contractCase);

for (const variant of sqlite.variants) {
  const places = placesOf(variant, sqliteDatabase);
  const contract = lockProviderContract(() => sqlFixture(places), sqlite);
  for (const contractCase of contract) testCase(`sqlite, ${describeVariant(variant)}`, contractCase);
}

for (const server of SERVER_NAMES) {
  const { lacks, variants } = servers[server];
  for (const variant of variants) {
    const places = placesOf(variant, () => databaseOn(server));
    for (const { name, run } of lockProviderContract(() => transactionalFixture(places), { lacks }))
      testOn(server, `${describeVariant(variant)}: ${name}`, run);
  }
}
