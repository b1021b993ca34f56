import { testServerContracts } from '../support/contract-tests';

testServerContracts('mariadb', 'in every run');
