import { testServerContracts, testUniqueContract } from '../support/contract-tests';

testServerContracts('mysql', 'in every run');
testUniqueContract('mysql');
