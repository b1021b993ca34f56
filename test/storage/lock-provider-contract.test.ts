import { lockProviderContract } from 'cronlatch/contracts';
import { memoryFixture, sqlFixture, transactionalFixture } from '../support/contract-fixtures';
import { CONTRACT_STORES, describeVariant } from '../support/contract-stores';
import { placesOf, testCase } from '../support/contract-tests';
import { databaseOn, SERVER_NAMES, sqliteDatabase, testOn } from '../support/databases';
import { sampleSize } from '../support/sample-size';

const { memory, sqlite, ...servers } = CONTRACT_STORES;

/** In the full run as many as in memory, the first time: how names are kept is the same in every variant. */
function fuzzedNames(isFirst: boolean): number {
  return isFirst ? sampleSize({ fast: 300, full: 10_000 }) : 300;
}

for (const contractCase of lockProviderContract(memoryFixture, { ...memory, fuzzedNames: 10_000 }))
  testCase('memory', contractCase);

for (const [index, variant] of sqlite.variants.entries()) {
  const places = placesOf(variant, sqliteDatabase);
  const options = { ...sqlite, fuzzedNames: fuzzedNames(index === 0) };
  const contract = lockProviderContract(() => sqlFixture(places), options);
  for (const contractCase of contract) testCase(`sqlite, ${describeVariant(variant)}`, contractCase);
}

for (const server of SERVER_NAMES) {
  const { lacks, variants } = servers[server];
  for (const [index, variant] of variants.entries()) {
    const places = placesOf(variant, () => databaseOn(server));
    const options = { lacks, fuzzedNames: fuzzedNames(index === 0) };
    for (const { name, run } of lockProviderContract(() => transactionalFixture(places), options))
      testOn(server, `${describeVariant(variant)}: ${name}`, run);
  }
}
