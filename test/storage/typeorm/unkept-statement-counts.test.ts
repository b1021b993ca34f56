import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnServers } from '../../support/benches/server';
import { statementLog } from '../../support/databases/statement-log';

const JOB = { name: 'job', lockAtMostFor: '1m' } as const;

testOnServers(
  'without kept rows, a run costs an insert and a delete, and a refused tick an insert and an update',
  async (bench) => {
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const sent = (): string[] => log.statements().map((text) => text.trim().replace(/\s.*/s, ''));
    const unkept = { keepRows: false } as const;
    const takeOver = bench.server === 'postgres' ? 'WITH' : 'UPDATE';
    const dataSource = bench.dataSource({ url: log.url });
    const guard = bench.closeAtEnd(await createJobGuard(dataSource, unkept));
    const other = bench.closeAtEnd(await createJobGuard(bench.application, unkept));
    await guard.run({ ...JOB, name: 'first' }, () => {}); // It names the place of the locks.
    sent();

    for (let run = 0; run < 3; run += 1) {
      const { executed } = await guard.run(JOB, (lock) => assert.ok(lock.fencingToken));
      assert.ok(executed);
      assert.deepEqual(sent(), ['INSERT', 'DELETE'], 'a run');
    }

    await other.run(JOB, async () => {
      await guard.run(JOB, () => assert.fail('ran'));
      assert.deepEqual(sent(), ['INSERT', takeOver, 'SELECT'], 'the first refused tick reads the holder');
      for (let tick = 0; tick < 3; tick += 1) {
        await guard.run(JOB, () => assert.fail('ran'));
        assert.deepEqual(sent(), ['INSERT', takeOver], 'a refused tick');
      }
    });

    const atLeast = { ...JOB, name: 'at-least', lockAtLeastFor: '30s' } as const;
    await guard.run(atLeast, () => {});
    assert.deepEqual(sent(), ['INSERT', 'DELETE', 'UPDATE'], 'lockAtLeastFor keeps the row');

    await guard.run({ ...JOB, name: 'whole-lease', lockAtLeastFor: '1m' }, () => {});
    assert.deepEqual(sent(), ['INSERT'], 'no release if lockAtLeastFor is the whole lease');
  },
);
