import { testServerContracts } from '../../support/contract-tests';

testServerContracts('mysql', 'the other levels');
