import { lockProviderContract, runStoreContract } from 'cronlatch/contracts';
import { memoryFixture } from '../support/contract-fixtures';
import { CONTRACT_STORES, RUN_STORES } from '../support/contract-stores';
import { testCase, testSqliteContracts, testUniqueContract } from '../support/contract-tests';
import { memoryRunsFixture } from '../support/run-store-fixtures';

for (const contractCase of lockProviderContract(memoryFixture, {
  ...CONTRACT_STORES.memory,
  fuzzedNames: 10_000,
}))
  testCase('memory', contractCase);

for (const contractCase of runStoreContract(memoryRunsFixture, RUN_STORES.memory))
  testCase('memory', contractCase);

testSqliteContracts();
testUniqueContract('sqlite');
