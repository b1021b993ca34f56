// More of this subject: contracts, storage/lock-provider-contract-mutants.test.ts, storage/run-store-contract-mutants.test.ts, faults/storage
import { lockProviderContract } from 'cronlatch/contracts';
import { testCase, testSqliteContracts } from '../support/stores/contract-tests';
import { memoryFixture } from '../support/stores/lock-fixtures';
import { memoryRunsFixture } from '../support/stores/run-fixtures';
import { CONTRACT_STORES, RUN_STORES } from '../support/stores/variants';
import { runStoreContract } from '../support/run-store-contract';

for (const contractCase of lockProviderContract(memoryFixture, {
  ...CONTRACT_STORES.memory,
  fuzzedNames: 10_000,
}))
  testCase('memory', contractCase);

for (const contractCase of runStoreContract(memoryRunsFixture, RUN_STORES.memory))
  testCase('memory', contractCase);

testSqliteContracts();
