/** The cases that some stores cannot have. A test below `test` has the number of each other case. */
import { leaveOut } from '../../support/stores/ledger-tests';

const ONE_PROCESS = 'other processes cannot read its map';
const NO_TRANSACTIONS = 'a map has no transactions';
const NO_COMMIT = 'COMMIT is a call within the process, whose reply cannot be lost';
const NO_AUTOCOMMIT = 'a session has no autocommit to switch off';

leaveOut('memory', 'processes that race for keys (L-02)', ONE_PROCESS);
leaveOut('memory', 'every isolation level (L-10)', NO_TRANSACTIONS);
leaveOut('memory', 'autocommit off (L-12)', NO_TRANSACTIONS);
leaveOut('postgres', 'autocommit off (L-12)', NO_AUTOCOMMIT);
leaveOut('sqlite', 'autocommit off (L-12)', NO_AUTOCOMMIT);
leaveOut('memory', 'table missing (L-13)', 'a map always exists');
leaveOut('memory', 'SIGKILL after the commit of the effects (L-17)', NO_TRANSACTIONS);
leaveOut('memory', 'SIGKILL between UPDATE and COMMIT (L-18)', NO_TRANSACTIONS);
leaveOut('memory', 'COMMIT reply lost (L-19)', NO_TRANSACTIONS);
leaveOut('sqlite', 'COMMIT reply lost (L-19)', NO_COMMIT);
leaveOut('memory', 'SIGSTOP inside the transaction (L-20)', NO_TRANSACTIONS);
