import { testServerContracts } from '../support/contract-tests';

testServerContracts('mysql', 'in every run');
