import { testServerContracts, testUniqueContract } from '../../support/contract-tests';

testServerContracts('mariadb', 'the other connections');
testUniqueContract('mariadb');
