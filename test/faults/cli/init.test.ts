import { testInitOn } from '../../cli/init-cases';

testInitOn(['mariadb', 'postgres']);
