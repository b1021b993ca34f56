import { testServerContracts } from '../../support/stores/contract-tests';

testServerContracts('mysql', 'the other levels');
