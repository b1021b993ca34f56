import { testServerContracts, testUniqueContract } from '../../support/contract-tests';

testServerContracts('mysql', 'the other connections');
testUniqueContract('mysql');
