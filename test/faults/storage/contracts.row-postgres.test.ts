import { testLockContract } from '../../support/contract-tests';
import { RowLockPlaces } from '../../support/row-lock-places';

testLockContract('postgres', 'row', new RowLockPlaces('postgres'));
