import { testLockContract } from '../support/stores/contract-tests';
import { RowLockPlaces } from '../support/stores/row-lock-places';

testLockContract('mysql', 'row', new RowLockPlaces('mysql'));
