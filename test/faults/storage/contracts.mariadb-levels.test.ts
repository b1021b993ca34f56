import { testServerContracts } from '../../support/stores/contract-tests';

testServerContracts('mariadb', 'the other levels');
