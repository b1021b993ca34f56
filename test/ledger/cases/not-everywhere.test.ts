/** The cases that a kind of store cannot show. Each of the others is somewhere below `test`, by its number. */
import { leaveOut } from '../../support/test-ledger';

const ONE_PROCESS = 'other processes do not see its map';
const NO_TRANSACTIONS = 'a map has no transactions';
const NO_COMMIT = 'COMMIT is a call into the process, whose reply cannot be lost';
const NO_AUTOCOMMIT = 'there is no autocommit to be switched off in a session';

leaveOut('memory', 'L-02 processes that race for keys', ONE_PROCESS);
leaveOut('memory', 'L-10 every isolation level', NO_TRANSACTIONS);
leaveOut('memory', 'L-12 autocommit off', NO_TRANSACTIONS);
leaveOut('postgres', 'L-12 autocommit off', NO_AUTOCOMMIT);
leaveOut('sqlite', 'L-12 autocommit off', NO_AUTOCOMMIT);
leaveOut('memory', 'L-13 table missing', 'a map is always there');
leaveOut('memory', 'L-17 SIGKILL after the commit of the effects', NO_TRANSACTIONS);
leaveOut('memory', 'L-18 SIGKILL between UPDATE and COMMIT', NO_TRANSACTIONS);
leaveOut('memory', 'L-19 COMMIT reply lost', NO_TRANSACTIONS);
leaveOut('sqlite', 'L-19 COMMIT reply lost', NO_COMMIT);
leaveOut('memory', 'L-20 SIGSTOP inside the transaction', NO_TRANSACTIONS);
