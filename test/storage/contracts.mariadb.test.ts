import { testServerContracts } from '../support/stores/contract-tests';

testServerContracts('mariadb', 'in every run');
