import { testServerContracts, testUniqueContract } from '../../support/stores/contract-tests';

testServerContracts('postgres', 'the others');
testUniqueContract('postgres');
