import { testFlaws } from '../../../storage/sql/schema/flaws/test-flaws';

testFlaws('mariadb');
