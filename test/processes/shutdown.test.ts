import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { mysqlDatabase, sqliteDatabase, testOn, type TestDatabase } from '../support/databases';
import { lockRows, migratedDataSource } from '../support/lock-table';

const APP = join(__dirname, 'fixtures', 'billing-app.js');

/** The app of the README, in a process of its own, inside its job. */
async function inMidJob({ environment }: TestDatabase): Promise<ChildProcess> {
  const app = fork(APP, { env: { ...process.env, ...environment } });
  await message(app, 'enter');
  return app;
}

async function message(app: ChildProcess, expected: string): Promise<void> {
  for (;;) {
    const [received] = (await Promise.race([
      once(app, 'message'),
      once(app, 'exit').then(() => ['exited']),
    ])) as [string];
    if (received === expected) return;
    assert.notEqual(received, 'exited', `the process ended while '${expected}' was awaited`);
  }
}

async function settlesOnSignal(database: TestDatabase): Promise<void> {
  const dataSource = await migratedDataSource(database);
  const app = await inMidJob(database);
  const ended = once(app, 'exit', { signal: AbortSignal.timeout(25_000) });
  try {
    app.kill('SIGTERM');
    await message(app, 'closing');
    assert.deepEqual(
      (await lockRows(dataSource)).map(({ held }) => held),
      [true],
      'the lock is held while its job runs',
    );
    app.send('finish');
    await message(app, 'exit');
    assert.deepEqual(await ended, [null, 'SIGTERM']);
    assert.deepEqual(
      (await lockRows(dataSource)).map(({ held }) => held),
      [false],
      'lock_until is at most now',
    );
  } finally {
    app.kill('SIGKILL');
    await dataSource.destroy();
    await database.dispose();
  }
}

void test('sqlite: SIGTERM in the middle of a job: the job settles, its lock is free, the process ends within 25 s', () =>
  settlesOnSignal(sqliteDatabase()));

testOn(
  'mysql',
  'SIGTERM in the middle of a job: the job settles, its lock is free, the process ends within 25 s',
  async () => settlesOnSignal(await mysqlDatabase()),
);

void test('a second SIGTERM ends the process at once, and leaves the lock to lapse', async () => {
  const database = sqliteDatabase();
  const dataSource = await migratedDataSource(database);
  const app = await inMidJob(database);
  try {
    app.kill('SIGTERM');
    await message(app, 'closing');
    const ended = once(app, 'exit', { signal: AbortSignal.timeout(2000) });
    app.kill('SIGTERM');
    assert.deepEqual(await ended, [null, 'SIGTERM']);
    assert.deepEqual(
      (await lockRows(dataSource)).map(({ held }) => held),
      [true],
    );
  } finally {
    app.kill('SIGKILL');
    await dataSource.destroy();
    await database.dispose();
  }
});

void test('a holder that was killed blocks the job until its lock has lapsed, and no longer', async () => {
  const database = sqliteDatabase();
  const dataSource = await migratedDataSource(database);
  const first = await inMidJob(database);
  const died = once(first, 'exit');
  first.kill('SIGKILL');
  await died;
  const second = fork(APP, { env: { ...process.env, ...database.environment } });
  try {
    const entered = message(second, 'enter');
    // To the table, a lease that is moved back in time is one that has passed.
    await dataSource.query('UPDATE shedlock SET lock_until = lock_until - 60000000');
    await entered;
    const [row] = await lockRows(dataSource);
    assert.match(row?.lockedBy ?? '', new RegExp(`/${second.pid}/`));
  } finally {
    second.kill('SIGKILL');
    await dataSource.destroy();
    await database.dispose();
  }
});
