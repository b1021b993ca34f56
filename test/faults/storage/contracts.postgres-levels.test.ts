import { testServerContracts } from '../../support/stores/contract-tests';

testServerContracts('postgres', 'the other levels');
