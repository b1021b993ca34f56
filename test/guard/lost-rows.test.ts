/** The row of a held lock is gone, or older, when its job ends. */
import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../support/benches/closing';
import { eventsOf, recordingLogger } from '../support/benches/guard';
import { testOnEvery } from '../support/databases/fresh';
import { migratedDataSource } from '../support/databases/lock-table';

const JOB = { name: 'close-day', lockAtMostFor: '1m' } as const;

const LOSSES = {
  'was deleted': 'DELETE FROM shedlock',
  'was restored from before the grant': `UPDATE shedlock SET locked_by = 'restored', fencing_token = 1`,
} as const;

for (const [how, statement] of Object.entries(LOSSES))
  testOnEvery(
    `if the row of a lock ${how}, its job has ended in its own process, too, and close does not wait (F-78)`,
    async (database) => {
      await using dataSource = closing(await migratedDataSource(database));
      const { lines, warn, error } = recordingLogger();
      const logger = { warn, error };
      await using guard = closing(await createJobGuard(dataSource, { logger, pollInterval: false }));
      const releases = eventsOf(guard, 'lock:released');
      await guard.run(JOB, async () => void (await dataSource.query(statement)));
      assert.deepEqual(
        releases.map(({ stillOurs }) => stillOurs),
        [false],
      );
      const { executed } = await guard.run(JOB, () => 'ran');
      assert.equal(executed, statement.startsWith('DELETE'), 'the database decides');
      assert.deepEqual(await guard.close(), { settled: [], abandoned: [] });
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(
        lines[0] ?? '',
        /guard:warning: Could not release lock 'close-day': .* was not deleted or restored/,
      );
    },
  );
