import { testServerContracts } from '../support/contract-tests';

testServerContracts('mariadb', 'default level');
