import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnServers } from '../../support/benches/server';
import { statementLog } from '../../support/databases/statement-log';

const JOB = { name: 'job', lockAtMostFor: '1m' } as const;

/** The session is read and set up, the lock table is inspected, and its place is read. */
const AT_START = ['SELECT', 'SET', 'SELECT', 'SELECT'];

testOnServers(
  'a run costs two statements, a refused tick one and a read once a minute, the token none',
  async (bench) => {
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const sent = (): string[] => verbs(log.statements());
    const takeOver = bench.server === 'postgres' ? 'WITH' : 'UPDATE';
    const guard = bench.closeAtEnd(await createJobGuard(bench.dataSource({ url: log.url })));
    const other = bench.closeAtEnd(await createJobGuard(bench.application));
    assert.deepEqual(sent(), AT_START);

    const place = ['SELECT', 'INSERT', 'SELECT'];
    await guard.run(JOB, () => {});
    assert.deepEqual(
      sent(),
      [...place, takeOver, 'INSERT', 'UPDATE'],
      'the first lock of the table names its place, and the first run inserts',
    );

    const { executed } = await guard.run(JOB, (lock) => assert.ok(lock.fencingToken));
    assert.ok(executed);
    assert.deepEqual(sent(), [takeOver, 'UPDATE'], 'a run');

    await other.run(JOB, async () => {
      await guard.run(JOB, () => assert.fail('ran'));
      assert.deepEqual(sent(), [takeOver, 'SELECT'], 'the first refused tick reads the holder');
      for (let tick = 0; tick < 5; tick += 1) await guard.run(JOB, () => assert.fail('ran'));
      assert.deepEqual(sent(), Array(5).fill(takeOver), 'refused ticks');
    });

    await guard.run({ ...JOB, name: 'whole-lease', lockAtLeastFor: '1m' }, () => {});
    assert.deepEqual(sent(), [takeOver, 'INSERT'], 'no release if lockAtLeastFor is the whole lease');

    const prepared = verbs(log.preparations()).sort();
    assert.deepEqual(
      prepared,
      ['INSERT', 'SELECT', 'UPDATE', takeOver],
      'every statement is prepared once, but the inspection, which is sent once',
    );

    const newName = { ...JOB, name: 'newName' };
    await other.run(newName, async () => {
      await guard.run(newName, () => assert.fail('ran'));
      assert.deepEqual(sent(), [takeOver, 'SELECT'], 'a refused tick of a name that is new to this provider');
    });
  },
);

function verbs(statements: string[]): string[] {
  return statements.map((text) => text.trim().replace(/\s.*/s, ''));
}
