import { testServerContracts } from '../support/stores/contract-tests';

testServerContracts('postgres', 'in every run');
