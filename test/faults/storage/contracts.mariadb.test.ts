import { testServerContracts, testUniqueContract } from '../../support/stores/contract-tests';

testServerContracts('mariadb', 'the other connections');
testUniqueContract('mariadb');
