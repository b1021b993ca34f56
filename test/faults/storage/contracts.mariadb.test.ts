import { testServerContracts } from '../../support/contract-tests';

testServerContracts('mariadb', 'other levels');
