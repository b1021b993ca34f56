import { testUniqueContract } from '../../support/stores/contract-tests';

testUniqueContract('sqlite');
