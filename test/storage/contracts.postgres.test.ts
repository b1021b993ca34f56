import { testServerContracts } from '../support/contract-tests';

testServerContracts('postgres', 'default level');
