import { testFlaws } from '../../../storage/typeorm/flaws/test-flaws';

testFlaws('mariadb');
