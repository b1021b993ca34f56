import { testServerContracts } from '../support/contract-tests';

testServerContracts('postgres', 'in every run');
