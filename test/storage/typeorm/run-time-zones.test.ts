import assert from 'node:assert/strict';
import { OwnSession } from '../../support/benches/own-session';
import { testOnServers } from '../../support/benches/server';
import { databaseNowUs } from '../../support/databases/lock-table';
import { createRunTables } from '../../support/databases/run-tables';
import { CLAIM, LIMIT, RUNNING } from '../../support/jobs/runs';

/** In the hour that the clocks of the session's zone skip, and in the hour that they show twice. */
const INSTANTS = ['2026-03-29T01:30:00.123Z', '2026-10-25T00:30:00.456Z', '2026-10-25T01:30:00.789Z'];

const SET_ZONE = {
  mysql: `SET time_zone = '-08:00'`,
  mariadb: `SET time_zone = '-08:00'`,
  postgres: `SET TIME ZONE 'Europe/Paris'`,
};

testOnServers('the time zone of a session does not affect a run (L-43)', async (bench) => {
  await createRunTables(bench.application);
  const session = bench.closeAtEnd(new OwnSession(bench.application));
  await session.query(SET_ZONE[bench.server]);
  const store = session.runs;
  for (const [number, instant] of INSTANTS.entries()) {
    const at = new Date(instant);
    const key = { ...CLAIM, scope: `${number}` };
    const beforeMs = Math.floor((await databaseNowUs(bench.application)) / 1000);
    await store.insert({ ...RUNNING, ...key, periodStart: at, periodEnd: at }, LIMIT);
    const now = await store.change(
      key,
      (found) => {
        assert.ok(found);
        return { value: found.now, write: { ...found.run, nextAttemptAt: at } };
      },
      LIMIT,
    );
    const { now: seen, runs, firstPeriodStart } = await store.peek({ ...key, since: at }, LIMIT);
    const [run] = runs;
    assert.ok(run);
    assert.deepEqual([run.periodStart, run.periodEnd, run.nextAttemptAt, firstPeriodStart], [at, at, at, at]);
    for (const instantOfDatabase of [run.createdAt, now, seen])
      assert.ok(beforeMs <= instantOfDatabase.getTime() && instantOfDatabase.getTime() < beforeMs + 60_000);
    const order = { order: 'newest-first', limit: 1 } as const;
    const later = new Date(at.getTime() + 1);
    assert.equal((await store.find({ ...order, scope: key.scope, from: at, to: later }, LIMIT)).length, 1);
    assert.equal((await store.find({ ...order, scope: key.scope, from: later }, LIMIT)).length, 0);
  }
});
