import { testServerContracts } from '../support/stores/contract-tests';

testServerContracts('mysql', 'in every run');
