import assert from 'node:assert/strict';
import { mysqlDatabase, type MysqlDatabase } from '../../support/databases';
import { eventually } from '../../support/eventually';
import { ledgerDataSource } from '../../support/run-places';
import { runningServer } from '../../support/running-servers';
import { testIf } from '../../support/test-on';
import { complaintsAbout } from './judge/verdict';
import { ROWS, type Row } from './rows';
import { Torture, type Surroundings } from './torture';

const missing = ['mysql', 'redis'].find((server) => runningServer(server) === undefined);

function testTorture(
  name: string,
  body: (surroundings: Surroundings, database: MysqlDatabase) => Promise<void>,
): void {
  testIf(missing === undefined, missing ?? '', name, async () => {
    const database = await mysqlDatabase();
    try {
      await (await ledgerDataSource(database)).destroy();
      await body({ options: database.options, redisUrl: runningServer('redis')?.url ?? '' }, database);
    } finally {
      await database.dispose();
    }
  });
}

/** Rows that do not depend on milliseconds, with one fire each. */
const SHORT = ROWS.flatMap((row): Row[] => {
  if (row.number === 4) return [{ ...row, fires: 1, blow: { kind: 'kill', atFire: 0 } }];
  return row.number === 6 ? [{ ...row, fires: 1 }] : [];
});

testTorture(
  'with a killed winner and a manual call, cronlatch runs each fire once, and node-cron alone does not',
  async (surroundings) => {
    const settled: string[] = [];
    const torture = new Torture(surroundings, {
      goesOn: () => {},
      settled: ({ number }, side, { runs }) => void settled.push(`${number} ${side}: ${runs}`),
    });
    const results = await torture.run(SHORT);
    assert.deepEqual(complaintsAbout(results), []);
    assert.deepEqual(settled.sort(), [
      '4 cronlatch: 2',
      '4 node-cron+redis: 1',
      '6 cronlatch: 1',
      '6 node-cron+redis: 2',
    ]);
  },
);

testTorture(
  'a torture that is stopped early rejects with the reason, after its processes have ended',
  async (surroundings, database) => {
    const torture = new Torture(surroundings, {
      goesOn: () => torture.stop(new Error('That is enough.')),
      settled: () => assert.fail('it should not settle'),
    });
    await assert.rejects(torture.run(SHORT), /That is enough/);
    const others =
      'SELECT 1 FROM performance_schema.threads WHERE processlist_db = DATABASE() AND processlist_id <> CONNECTION_ID()';
    await eventually(async () => (await database.ask(others)).length === 0, 'no connections are left');
  },
);
