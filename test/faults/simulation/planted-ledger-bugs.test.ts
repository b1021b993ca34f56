import { checkedLedgerSchedule } from '../../chaos/simulation/ledger/checked-ledger-schedule';
import { PLANTED_LEDGER_BUGS } from '../../chaos/simulation/ledger/planted-ledger-bugs';
import { testPlanted } from '../../chaos/simulation/search-test';

testPlanted('ledger', PLANTED_LEDGER_BUGS, 1000, checkedLedgerSchedule);
