import { testServerContracts, testUniqueContract } from '../../support/contract-tests';

testServerContracts('postgres', 'the other connections');
testUniqueContract('postgres');
