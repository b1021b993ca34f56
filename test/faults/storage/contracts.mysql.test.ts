import { testServerContracts, testUniqueContract } from '../../support/stores/contract-tests';

testServerContracts('mysql', 'the other connections');
testUniqueContract('mysql');
