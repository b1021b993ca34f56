import assert from 'node:assert/strict';
import { completeRunIn } from 'cronlatch/typeorm';
import { testTypeOrmTransactions } from '../../support/benches/transaction';
import { testCompletions } from '../../support/transaction-contract/completing';
import { TYPEORM } from '../../support/transaction-contract/typeorm';

// A manager without a transaction is refused below. A query runner does not notice that its transaction has ended.
testCompletions('TypeORM', (database) => TYPEORM.open(database, {}), { lacks: ['completeOutside'] });

testTypeOrmTransactions('a failed completion may be retried in another transaction', async (bench) => {
  await bench.run(async () => {
    await assert.rejects(
      completeRunIn(bench.application.dataSource.manager),
      /needs a manager with an open transaction\. Call it inside dataSource\.transaction\(async \(manager\) => \{ … \}\)/,
    );
    await bench.application.dataSource.transaction((manager) => completeRunIn(manager));
  });
  assert.equal((await bench.row()).state, 'completed');
});
