/** The cases that some stores cannot have. A test below `test` has the number of each other case. */
import { leaveOut } from '../../support/test-ledger';

const ONE_PROCESS = 'other processes cannot read its map';
const NO_TRANSACTIONS = 'a map has no transactions';
const NO_COMMIT = 'COMMIT is a call within the process, whose reply cannot be lost';
const NO_AUTOCOMMIT = 'a session has no autocommit to switch off';

leaveOut('memory', 'L-02 processes that race for keys', ONE_PROCESS);
leaveOut('memory', 'L-10 every isolation level', NO_TRANSACTIONS);
leaveOut('memory', 'L-12 autocommit off', NO_TRANSACTIONS);
leaveOut('postgres', 'L-12 autocommit off', NO_AUTOCOMMIT);
leaveOut('sqlite', 'L-12 autocommit off', NO_AUTOCOMMIT);
leaveOut('memory', 'L-13 table missing', 'a map always exists');
leaveOut('memory', 'L-17 SIGKILL after the commit of the effects', NO_TRANSACTIONS);
leaveOut('memory', 'L-18 SIGKILL between UPDATE and COMMIT', NO_TRANSACTIONS);
leaveOut('memory', 'L-19 COMMIT reply lost', NO_TRANSACTIONS);
leaveOut('sqlite', 'L-19 COMMIT reply lost', NO_COMMIT);
leaveOut('memory', 'L-20 SIGSTOP inside the transaction', NO_TRANSACTIONS);
