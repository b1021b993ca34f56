import { testServerContracts, testUniqueContract } from '../../support/contract-tests';

testServerContracts('mariadb', 'the others');
testUniqueContract('mariadb');
