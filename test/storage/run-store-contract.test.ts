import { runStoreContract } from 'cronlatch/contracts';
import { describeVariant, RUN_STORES } from '../support/contract-stores';
import { placesOf, testCase } from '../support/contract-tests';
import { databaseOn, SERVER_NAMES, sqliteDatabase, testOn } from '../support/databases';
import { memoryRunsFixture, sqlRunsFixture, transactionalRunsFixture } from '../support/run-store-fixtures';

const { memory, sqlite, ...servers } = RUN_STORES;

for (const contractCase of runStoreContract(memoryRunsFixture, memory)) testCase('memory', contractCase);

for (const variant of sqlite.variants) {
  const places = placesOf(variant, sqliteDatabase);
  for (const contractCase of runStoreContract(() => sqlRunsFixture(places), sqlite))
    testCase(`sqlite, ${describeVariant(variant)}`, contractCase);
}

for (const server of SERVER_NAMES) {
  const { lacks, variants } = servers[server];
  for (const variant of variants) {
    const places = placesOf(variant, () => databaseOn(server));
    for (const { name, run } of runStoreContract(() => transactionalRunsFixture(places), { lacks }))
      testOn(server, `${describeVariant(variant)}: ${name}`, run);
  }
}
