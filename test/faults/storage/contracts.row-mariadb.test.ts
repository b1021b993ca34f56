import { testLockContract } from '../../support/stores/contract-tests';
import { RowLockPlaces } from '../../support/stores/row-lock-places';

testLockContract('mariadb', 'row', new RowLockPlaces('mariadb'));
