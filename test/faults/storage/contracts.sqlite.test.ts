import { testSqliteContracts, testUniqueContract } from '../../support/stores/contract-tests';

testSqliteContracts('the other connections');
testUniqueContract('sqlite');
