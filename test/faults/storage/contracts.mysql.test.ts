import { testServerContracts } from '../../support/contract-tests';

testServerContracts('mysql', 'other levels');
