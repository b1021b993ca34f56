import { testServerContracts, testUniqueContract } from '../../support/stores/contract-tests';

testServerContracts('mysql', 'the others');
testUniqueContract('mysql');
