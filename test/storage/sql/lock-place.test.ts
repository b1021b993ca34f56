import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DataSource } from 'typeorm';
import type { JobConfiguration } from 'cronlatch';
import { commandOf } from 'cronlatch/operations';
import { createCronlatchMigration, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { readWhy } from '#cronlatch/operations/why';
import { closing } from '../../support/benches/closing';
import { testOnDatabases, type DatabaseBench } from '../../support/benches/database';
import { nextEvent, runningJob, warningsOf } from '../../support/benches/guard';
import { mariadbDatabase, type Administrator } from '../../support/databases/fresh';
import { lockRows, migratedDataSource, shiftBack } from '../../support/databases/lock-table';
import type { ServerDatabase } from '../../support/databases/types';
import { withUser } from '../../support/databases/user';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const DAILY: JobConfiguration = {
  ...JOB,
  keepAlive: true,
  oncePer: { period: () => 'today', timeZone: 'UTC', retry: { maxAttempts: 3, initialDelay: 0 } },
};

/** What the row of the place contains. */
async function placeIn(application: DataSource, table = 'shedlock'): Promise<string | undefined> {
  const [row] = await application.query<{ locked_by: string }[]>(
    `SELECT locked_by FROM ${table} WHERE name = 'cronlatch-place'`,
  );
  return row?.locked_by;
}

/** The same database under another address: another name of the host, or a link to the folder of the file. */
function addressedOtherwise({ database: { options } }: DatabaseBench): DataSource {
  if (options.type === 'better-sqlite3') {
    const file = String(options.database);
    const link = `${dirname(file)}-link`;
    symlinkSync(dirname(file), link);
    return new DataSource({ ...options, database: join(link, basename(file)) });
  }
  const { url = '' } = options as { url?: string };
  return new DataSource({ ...options, url: url.replace('127.0.0.1', 'localhost') } as typeof options);
}

testOnDatabases(
  'the first lock of a job names the place, and each address of the table has this id',
  async (bench) => {
    const { application } = bench;
    const providers = [bench.provider(), bench.provider({}, addressedOtherwise(bench))];
    for (const provider of providers) await provider.check();
    assert.deepEqual(
      [...providers.map(({ id }) => id), await placeIn(application)],
      [undefined, undefined, undefined],
    );
    // Two first locks at once.
    await Promise.all(providers.map((provider, index) => provider.lock({ ...JOB, name: `job ${index}` })));
    const place = await placeIn(application);
    assert.match(String(place), /^place\/[0-9a-f-]{36}$/);
    const later = bench.provider();
    await later.check();
    assert.deepEqual(
      [...providers, later].map(({ id }) => id),
      [place, place, place],
    );

    const runner = application.createQueryRunner();
    await new (createCronlatchMigration({ tables: ['lock'], lockTable: 'another' }))().up(runner);
    await runner.release();
    const other = bench.provider({ lockTable: 'another' });
    await other.lock(JOB);
    assert.equal(other.id, await placeIn(application, 'another'));
    assert.notEqual(other.id, place);
  },
);

testOnDatabases('an operator does not name the place, sees no row of it, and purges none', async (bench) => {
  const { application } = bench;
  const provider = bench.provider({ keepRows: false });
  await provider.hold('held', { owner: 'hold/ops/reason/', lockAtMostFor: '10m' });
  await provider.inspect('held');
  assert.deepEqual([await placeIn(application), provider.id], [undefined, undefined]);
  await provider.lock(JOB);
  const place = await placeIn(application);
  assert.equal(provider.id, place);
  await shiftBack(application, 3_600_000);
  const names = (await provider.list({})).map(({ name }) => name);
  assert.deepEqual([names, await provider.list({ held: true })], [['held', 'job'], []]);
  assert.equal(await provider.purge(0), 2);
  assert.equal(await placeIn(application), place);
  await assert.rejects(
    provider.lock({ ...JOB, name: 'cronlatch-place' }),
    /A lock cannot have the name 'cronlatch-place'/,
  );
});

testOnDatabases(
  'after a crash, a guard with another address takes the run over when its lock is free',
  async (bench) => {
    const { application } = bench;
    const [crashing, other] = [await bench.openGuard(), await bench.openGuard({}, addressedOtherwise(bench))];
    const job = await runningJob(crashing, DAILY);
    await crashing.close({ timeout: 0 });
    await shiftBack(application, 3_600_000);
    assert.deepEqual(await other.run(DAILY, () => 'again'), { executed: true, value: 'again' });
    job.finish();
  },
);

testOnDatabases('after the lock table was emptied, running guards keep its place', async (bench) => {
  const { application } = bench;
  const [crashing, other] = [await bench.openGuard(), await bench.openGuard()];
  await other.run({ ...JOB, name: 'earlier' }, () => {});
  const place = await placeIn(application);
  const job = await runningJob(crashing, DAILY);
  await application.query('DELETE FROM shedlock');
  await crashing.close({ timeout: 0 });
  assert.deepEqual(await other.run(DAILY, () => 'again'), { executed: true, value: 'again' });
  job.finish();
  // It finds the row of a lock gone, and with the next lock also that of the place.
  for (const name of ['earlier', 'later']) await other.run({ ...JOB, name }, () => {});
  assert.equal(await placeIn(application), place);
});

testOnDatabases(
  'a guard that has read an older place reads it again before it refuses a run',
  async (bench) => {
    const { application } = bench;
    const [crashing, other] = [await bench.openGuard(), await bench.openGuard()];
    await other.run({ ...JOB, name: 'earlier' }, () => {});
    await application.query(
      `UPDATE shedlock SET locked_by = 'place/restored' WHERE name = 'cronlatch-place'`,
    );
    const job = await runningJob(crashing, DAILY);
    await crashing.close({ timeout: 0 });
    await shiftBack(application, 3_600_000);
    assert.deepEqual(await other.run(DAILY, () => 'again'), { executed: true, value: 'again' });
    job.finish();
  },
);

// Two servers with the same names of dialect, database and table.
testOnDatabases(
  'a live run is not taken over under a lock of another server (L2, F-76)',
  async (bench) => {
    const { name } = bench.database as ServerDatabase<unknown>;
    await using elsewhere = closing(await mariadbDatabase());
    const root: Administrator = elsewhere.root;
    await root.query(`CREATE DATABASE ${name}`);
    const url = elsewhere.url.replace(elsewhere.name, name);
    await using moved = closing(
      await migratedDataSource({ ...elsewhere, options: { type: 'mariadb', url } }),
    );
    await using lockProvider = closing(new TypeOrmLockProvider(moved));
    const [before, after] = [await bench.openGuard(), await bench.openGuard({ lockProvider })];
    const job = await runningJob(before, DAILY);
    const result = await after.run(DAILY, () => 'twice');
    assert.deepEqual([result.executed, 'reason' in result && result.reason], [false, 'running-elsewhere']);
    job.finish('once');
    assert.deepEqual(await job.result, { executed: true, value: 'once' });
    for (const guard of [before, after]) await guard.close();
    await root.query(`DROP DATABASE ${name}`);
  },
  ['mysql'],
);

testOnDatabases(
  'a role that may not insert the place uses locks, and warns once',
  async (bench) => {
    const { application } = bench;
    const first = bench.provider();
    await (await first.lock(JOB))?.unlock();
    await application.query(`DELETE FROM shedlock WHERE name = 'cronlatch-place'`);
    const database = bench.database as ServerDatabase<Administrator>;
    await database.ask('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
    await withUser('postgres', database, async ({ account, url }) => {
      await database.ask(`GRANT SELECT, UPDATE ON shedlock TO ${account}`);
      const guard = await bench.openGuard({}, bench.dataSource({ url }));
      const warnings = warningsOf(guard);
      for (let tick = 0; tick < 2; tick += 1) assert.equal((await guard.run(JOB, () => {})).executed, true);
      assert.equal(warnings.length, 1);
      assert.match(
        String(warnings[0]),
        /^Could not find or insert the row 'cronlatch-place' of the lock table: /,
      );
      assert.deepEqual(
        (await lockRows(application)).map(({ name }) => name),
        ['job'],
      );
      await guard.close();
    });
  },
  ['postgres'],
);

testOnDatabases(
  'a run that was claimed in another place is a warning, and why and explain show when it is taken over',
  async (bench) => {
    const { application } = bench;
    const [crashing, other] = [await bench.openGuard(), await bench.openGuard()];
    const warnings = warningsOf(other);
    other.wrap(DAILY, () => 'again');
    const job = await runningJob(crashing, DAILY);
    await crashing.close({ timeout: 0 });
    await shiftBack(application, 3_600_000);
    await application.query(`UPDATE shedlock SET locked_by = 'place/other' WHERE name = 'cronlatch-place'`);
    for (let tick = 0; tick < 2; tick += 1) {
      const skipped = nextEvent(other, 'run:skipped');
      assert.equal((await other.run(DAILY, () => 'again')).executed, false);
      assert.equal((await skipped).reason, 'running-elsewhere');
    }
    const run = await other.ledger.last('job');
    const until = run?.leaseUntil?.toISOString() ?? '';
    assert.equal(warnings.length, 1);
    assert.match(
      String(warnings[0]),
      /^Could not take over the run of job 'job' for today from .*, although lock 'job' was free/,
    );
    assert.ok(
      warnings[0]?.includes(
        `takes the run over after ${until}. To run it again now: cronlatch rerun job today --force`,
      ),
      warnings[0],
    );
    const { decision, text } = await other.ledger.explain('job');
    assert.equal(decision, 'running-elsewhere');
    assert.match(
      text,
      /It was claimed under another lock, or in another place of the locks\..*cronlatch rerun job today --force/,
    );
    const { obstacles } = await readWhy(other, 'job');
    assert.deepEqual(
      obstacles.map(({ remedy }) => remedy && commandOf(remedy)),
      [['rerun', 'job', 'today', '--force', '--reason', 'TEXT']],
    );
    assert.match(String(obstacles[0]?.text), /after its longest lease has ended at 20/);
    job.finish();
  },
);
