import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DataSource } from 'typeorm';
import type { JobConfiguration } from 'cronlatch';
import { createCronlatchMigration, createJobGuard, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { nextEvent, runningJob } from '../../support/benches/guard';
import {
  databaseOn,
  mariadbDatabase,
  testOn,
  testOnEvery,
  type Administrator,
  type TestDatabase,
} from '../../support/databases/fresh';
import { lockRows, migratedDataSource, shiftBack } from '../../support/databases/lock-table';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { readWhy } from '#cronlatch/guard/operations/why';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const DAILY: JobConfiguration = {
  ...JOB,
  keepAlive: true,
  oncePer: { period: () => 'today', timeZone: 'UTC', retry: { maxAttempts: 3, initialDelay: 0 } },
};
const GUARD = { logger: false, pollInterval: false } as const;

/** What the row of the place contains. */
async function placeIn(application: DataSource, table = 'shedlock'): Promise<string | undefined> {
  const [row] = await application.query<{ locked_by: string }[]>(
    `SELECT locked_by FROM ${table} WHERE name = 'cronlatch-place'`,
  );
  return row?.locked_by;
}

/** The same database under another address: another name of the host, or a link to the folder of the file. */
function addressedOtherwise({ options }: TestDatabase): DataSource {
  if (options.type === 'better-sqlite3') {
    const file = String(options.database);
    const link = `${dirname(file)}-link`;
    symlinkSync(dirname(file), link);
    return new DataSource({ ...options, database: join(link, basename(file)) });
  }
  const { url = '' } = options as { url?: string };
  return new DataSource({ ...options, url: url.replace('127.0.0.1', 'localhost') } as typeof options);
}

testOnEvery(
  'the first lock of a job names the place, and each address of the table has this id',
  async (database) => {
    const application = await migratedDataSource(database);
    const providers = [
      new TypeOrmLockProvider(application),
      new TypeOrmLockProvider(addressedOtherwise(database)),
    ];
    try {
      for (const provider of providers) await provider.check();
      assert.deepEqual(
        [...providers.map(({ id }) => id), await placeIn(application)],
        [undefined, undefined, undefined],
      );
      // Two first locks at once.
      await Promise.all(providers.map((provider, index) => provider.lock({ ...JOB, name: `job ${index}` })));
      const place = await placeIn(application);
      assert.match(String(place), /^place\/[0-9a-f-]{36}$/);
      assert.deepEqual(
        providers.map(({ id }) => id),
        [place, place],
      );
      const later = new TypeOrmLockProvider(application);
      providers.push(later);
      await later.check();
      assert.equal(later.id, place);

      const another = createCronlatchMigration({ tables: ['lock'], lockTable: 'another' });
      const runner = application.createQueryRunner();
      await new another().up(runner);
      await runner.release();
      const other = new TypeOrmLockProvider(application, { lockTable: 'another' });
      providers.push(other);
      await other.lock(JOB);
      assert.equal(other.id, await placeIn(application, 'another'));
      assert.notEqual(other.id, place);
    } finally {
      for (const provider of providers) await provider.close();
      await application.destroy();
    }
  },
);

testOnEvery('an operator does not name the place, sees no row of it, and purges none', async (database) => {
  const application = await migratedDataSource(database);
  const provider = new TypeOrmLockProvider(application, { keepRows: false });
  try {
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
  } finally {
    await provider.close();
    await application.destroy();
  }
});

testOnEvery(
  'after a crash, a guard with another address takes the run over when its lock is free',
  async (database) => {
    const application = await ledgerDataSource(database);
    const elsewhere = addressedOtherwise(database);
    const [crashing, other] = [
      await createJobGuard(application, GUARD),
      await createJobGuard(elsewhere, GUARD),
    ];
    try {
      const job = await runningJob(crashing, DAILY);
      await crashing.close({ timeout: 0 });
      await shiftBack(application, 3_600_000);
      assert.deepEqual(await other.run(DAILY, () => 'again'), { executed: true, value: 'again' });
      job.finish();
    } finally {
      await Promise.all([crashing.close(), other.close()]);
      await application.destroy();
    }
  },
);

testOnEvery('after the lock table was emptied, running guards keep its place', async (database) => {
  const application = await ledgerDataSource(database);
  const [crashing, other] = [
    await createJobGuard(application, GUARD),
    await createJobGuard(application, GUARD),
  ];
  try {
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
  } finally {
    await Promise.all([crashing.close(), other.close()]);
    await application.destroy();
  }
});

testOnEvery(
  'a guard that has read an older place reads it again before it refuses a run',
  async (database) => {
    const application = await ledgerDataSource(database);
    const [crashing, other] = [
      await createJobGuard(application, GUARD),
      await createJobGuard(application, GUARD),
    ];
    try {
      await other.run({ ...JOB, name: 'earlier' }, () => {});
      await application.query(
        `UPDATE shedlock SET locked_by = 'place/restored' WHERE name = 'cronlatch-place'`,
      );
      const job = await runningJob(crashing, DAILY);
      await crashing.close({ timeout: 0 });
      await shiftBack(application, 3_600_000);
      assert.deepEqual(await other.run(DAILY, () => 'again'), { executed: true, value: 'again' });
      job.finish();
    } finally {
      await Promise.all([crashing.close(), other.close()]);
      await application.destroy();
    }
  },
);

// Two servers with the same names of dialect, database and table.
testOn('mysql', 'a live run is not taken over under a lock of another server (L2, F-76)', async () => {
  const ledger = await databaseOn('mysql');
  const elsewhere = await mariadbDatabase();
  const root: Administrator = elsewhere.root;
  await root.query(`CREATE DATABASE ${ledger.name}`);
  const application = await ledgerDataSource(ledger);
  const url = elsewhere.url.replace(elsewhere.name, ledger.name);
  const moved = await migratedDataSource({ ...elsewhere, options: { type: 'mariadb', url } });
  const lockProvider = new TypeOrmLockProvider(moved);
  const options = { logger: false, pollInterval: false } as const;
  const [before, after] = [
    await createJobGuard(application, options),
    await createJobGuard(application, { ...options, lockProvider }),
  ];
  try {
    const job = await runningJob(before, DAILY);
    const result = await after.run(DAILY, () => 'twice');
    assert.deepEqual([result.executed, 'reason' in result && result.reason], [false, 'running-elsewhere']);
    job.finish('once');
    assert.deepEqual(await job.result, { executed: true, value: 'once' });
  } finally {
    await Promise.all([before.close({ timeout: 0 }), after.close({ timeout: 0 })]);
    await lockProvider.close();
    await application.destroy();
    await moved.destroy();
    await root.query(`DROP DATABASE ${ledger.name}`);
    await elsewhere.dispose();
    await ledger.dispose();
  }
});

testOn('postgres', 'a role that may not insert the place uses locks, and warns once', async () => {
  const database = await databaseOn('postgres');
  const application = await ledgerDataSource(database);
  const first = new TypeOrmLockProvider(application);
  await (await first.lock(JOB))?.unlock();
  await first.close();
  await application.query(`DELETE FROM shedlock WHERE name = 'cronlatch-place'`);
  const role = `${database.name}_role`;
  const { root }: { root: Administrator } = database;
  await root.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await root.query(`GRANT SELECT, UPDATE ON shedlock TO ${role}`);
  await root.query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'secret'];
  const guard = await createJobGuard(new DataSource({ type: 'postgres', url: url.href }), GUARD);
  const warnings: string[] = [];
  guard.on('guard:warning', ({ message }) => void warnings.push(message));
  try {
    const job = { ...JOB, name: 'job' };
    for (let tick = 0; tick < 2; tick += 1) assert.equal((await guard.run(job, () => {})).executed, true);
    assert.equal(warnings.length, 1);
    assert.match(
      String(warnings[0]),
      /^Could not find or insert the row 'cronlatch-place' of the lock table: /,
    );
    assert.deepEqual(
      (await lockRows(application)).map(({ name }) => name),
      ['job'],
    );
  } finally {
    await guard.close();
    await application.destroy();
    await root.query(`DROP OWNED BY ${role}`);
    await root.query(`DROP ROLE ${role}`);
    await database.dispose();
  }
});

testOnEvery(
  'a run that was claimed in another place is a warning, and why and explain show when it is taken over',
  async (database) => {
    const application = await ledgerDataSource(database);
    const [crashing, other] = [
      await createJobGuard(application, GUARD),
      await createJobGuard(application, GUARD),
    ];
    const warnings: string[] = [];
    other.on('guard:warning', ({ message }) => void warnings.push(message));
    other.wrap(DAILY, () => 'again');
    try {
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
        obstacles.map(({ command }) => command),
        [['rerun', 'job', 'today', '--force', '--reason', 'TEXT']],
      );
      assert.match(String(obstacles[0]?.text), /after its longest lease has ended at 20/);
      job.finish();
    } finally {
      await Promise.all([crashing.close(), other.close()]);
      await application.destroy();
    }
  },
);
