import { testLockContract } from '../support/contract-tests';
import { RowLockPlaces } from '../support/row-lock-places';

testLockContract('mysql', 'row', new RowLockPlaces('mysql'));
