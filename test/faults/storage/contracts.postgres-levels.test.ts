import { testServerContracts } from '../../support/contract-tests';

testServerContracts('postgres', 'the other levels');
