import { testServerContracts, testUniqueContract } from '../../support/stores/contract-tests';

testServerContracts('mariadb', 'the others');
testUniqueContract('mariadb');
