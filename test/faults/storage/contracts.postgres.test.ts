import { testServerContracts, testUniqueContract } from '../../support/contract-tests';

testServerContracts('postgres', 'the others');
testUniqueContract('postgres');
