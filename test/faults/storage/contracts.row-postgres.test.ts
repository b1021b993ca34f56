import { testLockContract } from '../../support/stores/contract-tests';
import { RowLockPlaces } from '../../support/stores/row-lock-places';

testLockContract('postgres', 'row', new RowLockPlaces('postgres'));
