import { testServerContracts } from '../support/contract-tests';

testServerContracts('mysql', 'default level');
