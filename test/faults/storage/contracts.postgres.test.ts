import { testServerContracts } from '../../support/contract-tests';

testServerContracts('postgres', 'other levels');
