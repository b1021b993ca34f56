import { testServerContracts, testUniqueContract } from '../../support/stores/contract-tests';

testServerContracts('postgres', 'the other connections');
testUniqueContract('postgres');
