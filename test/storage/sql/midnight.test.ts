/** Many jobs that are due in the same second: how many statements they need together. */
import assert from 'node:assert/strict';
import { SettableClock } from 'cronlatch/testing';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { createJobGuard } from 'cronlatch/typeorm';
import { namesOf, releaseAll, testGroups } from '../../support/benches/grouping';
import { testOnServers } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';
import { createRunTables } from '../../support/databases/run-tables';
import { statementLog } from '../../support/databases/statement-log';

testOnServers(
  'a night of 200 once-per-day jobs sends a claim and a completion for each, and few other statements',
  async (bench) => {
    await createRunTables(bench.application);
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const application = await bench.connected({ url: log.url });
    const guard = bench.closeAtEnd(
      await createJobGuard(application, { logger: false, pollInterval: false, statementTimeout: '60s' }),
    );
    const night = async (day: string): Promise<number> => {
      let runs = 0;
      const run = async (name: string): Promise<void> => {
        const oncePer = { period: 'day', timeZone: 'UTC' } as const;
        const job = { name, lockAtMostFor: '10m', oncePer, at: new Date(day) } as const;
        await guard.run(job, () => void (runs += 1));
      };
      await Promise.all(namesOf(200).map(run));
      return runs;
    };
    await night('2026-11-18'); // Also checks the tables, and creates the rows of the locks.
    log.statements();
    assert.equal(await night('2026-11-19'), 200);
    const sent = log.statements();
    const claims = sent.filter((text) => text.startsWith('INSERT'));
    const completions = sent.filter((text) => text.includes("SET state = 'completed'"));
    assert.equal(claims.length, 200);
    assert.equal(completions.length, 200);
    // One by one, there would be a read, a lock and a release for each.
    const { length: others } = sent.filter((text) => !claims.includes(text) && !completions.includes(text));
    assert.ok(others <= 60, `${others} other statements`);
  },
);

testGroups('1,000 locks with keepAlive need about 20 statements for each renewal', async (bench) => {
  const { accessor, statements } = bench;
  const names = namesOf(1000);
  await releaseAll(accessor, names);
  const clock = new SettableClock();
  const provider = new StorageBasedLockProvider(accessor, { clock, statementTimeout: '60s' });
  let extended = 0;
  const take = (name: string) =>
    provider.lock({ name, lockAtMostFor: '15m', keepAlive: true }, { extended: () => (extended += 1) });
  const locks = await Promise.all(names.map(take));
  for (const period of [1, 2]) {
    statements();
    clock.advance('5m');
    await eventually(() => extended === period * names.length, 'all are extended');
    // Two connections are free for the first ones. The others travel in groups of 50.
    const { length } = statements();
    assert.ok(length <= 22, `${length} statements`);
  }
  await Promise.all(locks.map(async (lock) => await lock?.unlock()));
});
