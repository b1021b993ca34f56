import { testLockContract } from '../../support/contract-tests';
import { RowLockPlaces } from '../../support/row-lock-places';

testLockContract('mariadb', 'row', new RowLockPlaces('mariadb'));
