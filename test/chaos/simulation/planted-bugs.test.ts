import { PLANTED_BUGS } from './planted-bugs';
import { checkedSchedule } from './search';
import { testPlanted } from './search-test';

testPlanted('lock', PLANTED_BUGS, 6000, checkedSchedule);
