import { testServerContracts } from '../../support/contract-tests';

testServerContracts('mariadb', 'the other levels');
