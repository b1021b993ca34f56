import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { currentLock, type JobGuard } from 'cronlatch';
import * as sqliteDriver from 'cronlatch/better-sqlite3';
import { systemClock, type Clock } from 'cronlatch/provider';
import * as onTypeorm from 'cronlatch/typeorm';
import { eventually } from '../support/clocks/eventually';

const JOB = { name: 'job', lockAtMostFor: '10m' };
const DAY = { ...JOB, name: 'day', oncePer: { period: 'day', timeZone: 'UTC' } } as const;
const SPEED = 10;
const STARTED_AT_MS = Date.now();
const REPLACED = /jobs\.db was replaced or removed while this process had it open\. Restart the process, /;

/** A file with tables, and a function that puts a backup of it in its place. */
async function fileIn(
  t: TestContext,
): Promise<{ file: string; restoreBackup: () => void; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-replaced-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [file, backup] = [join(folder, 'jobs.db'), join(folder, 'backup.db')];
  await sqliteDriver.createTables(`sqlite:${file}`);
  copyFileSync(file, backup);
  const remove = (): void => ['', '-wal', '-shm'].forEach((end) => rmSync(`${file}${end}`, { force: true }));
  return { file, remove, restoreBackup: () => (remove(), renameSync(backup, file)) };
}

interface Opened {
  readonly guard: JobGuard;
  /** Completes the current run in a transaction of the application. */
  readonly complete: (() => Promise<unknown>)[];
}

type Open = (file: string, t: TestContext) => Promise<Opened>;

/** Runs ten times as fast: releases and outcomes are sent to a replaced file again and again, for 10 s and more. */
const fastClock: Clock = {
  monotonicMs: () => systemClock.monotonicMs() * SPEED,
  wallMs: () => STARTED_AT_MS + (systemClock.wallMs() - STARTED_AT_MS) * SPEED,
  schedule: (delayMs, callback, options) => systemClock.schedule(delayMs / SPEED, callback, options),
};

const quiet = { clock: fastClock, logger: { warn: () => {}, error: () => {} } };

async function onHandle(file: string, t: TestContext): Promise<Opened> {
  const handle = new Database(file);
  const guard = await sqliteDriver.createJobGuard(handle, quiet);
  t.after(async () => {
    await guard.close();
    handle.close();
  });
  const inOwn = handle.transaction(() => sqliteDriver.completeRunIn(handle));
  const complete = [
    () => sqliteDriver.inRunTransaction(() => {}),
    () => Promise.resolve().then(() => inOwn.immediate()),
  ];
  return { guard, complete };
}

async function onDataSource(file: string, t: TestContext): Promise<Opened> {
  const dataSource = await new DataSource({ type: 'better-sqlite3', database: file }).initialize();
  const guard = await onTypeorm.createJobGuard(dataSource, quiet);
  t.after(async () => {
    await guard.close();
    await dataSource.destroy();
  });
  const complete = [
    () => onTypeorm.inRunTransaction(() => {}),
    () => dataSource.transaction((manager) => onTypeorm.completeRunIn(manager)),
  ];
  return { guard, complete };
}

const WAYS: readonly (readonly [name: string, open: Open])[] = [
  [
    'an address',
    async (file, t) => {
      const guard = await sqliteDriver.createJobGuard(`sqlite:${file}`, quiet);
      t.after(() => guard.close());
      return { guard, complete: [() => sqliteDriver.inRunTransaction(() => {})] };
    },
  ],
  ['a handle', onHandle],
  ['a DataSource', onDataSource],
];

for (const [name, open] of WAYS) {
  void test(`with ${name}, a guard whose file was replaced grants nothing, and another one runs (F-77)`, async (t) => {
    const { file, restoreBackup } = await fileIn(t);
    const [{ guard: old }] = [await open(file, t)];
    assert.equal((await old.run(JOB, () => {})).executed, true);
    restoreBackup();
    const { guard: other } = await open(file, t);
    assert.equal((await other.run(DAY, () => 'paid')).executed, true);
    for (const job of [JOB, DAY])
      await assert.rejects(
        old.run(job, () => 'paid again'),
        REPLACED,
      );
    assert.equal((await other.run(JOB, () => {})).executed, true);
  });

  void test(`with ${name}, no run is completed in a file that was replaced (F-77)`, async (t) => {
    const { file, restoreBackup } = await fileIn(t);
    const { guard, complete } = await open(file, t);
    const answers: unknown[] = [];
    const run = guard.run(DAY, async () => {
      restoreBackup();
      for (const each of complete) answers.push(await each().catch((error: unknown) => error));
    });
    await assert.rejects(run, { code: 'CRONLATCH_CLAIM_LOST', message: REPLACED });
    assert.equal(answers.length, complete.length);
    for (const answer of answers) {
      assert.ok(answer instanceof Error);
      assert.equal((answer as { code?: string }).code, 'CRONLATCH_CLAIM_LOST');
      assert.match(answer.message, REPLACED);
    }
  });
}

void test('a running job loses its lock at the next renewal, and a warning names the file (F-77)', async (t) => {
  const { file, restoreBackup } = await fileIn(t);
  const warnings: string[] = [];
  const guard = await sqliteDriver.createJobGuard(`sqlite:${file}`, quiet);
  t.after(() => guard.close());
  guard.on('guard:warning', ({ message }) => void warnings.push(message));
  const lost = new Promise<string>((resolve) => guard.on('lock:lost', ({ error }) => resolve(error.message)));
  let reason: unknown;
  await guard.run({ ...JOB, lockAtMostFor: '9s', keepAlive: true }, async () => {
    const { signal } = currentLock();
    restoreBackup();
    await eventually(() => signal.aborted, 'the signal aborts');
    reason = signal.reason;
  });
  assert.match(await lost, /its record no longer belongs to this process/);
  assert.match(String(reason), /its record no longer belongs to this process/);
  assert.equal(warnings.filter((message) => REPLACED.test(message)).length, 1);
});

void test('a file that is missing counts as replaced (F-77)', async (t) => {
  const { file, remove } = await fileIn(t);
  const guard = await sqliteDriver.createJobGuard(`sqlite:${file}`, quiet);
  t.after(() => guard.close());
  remove();
  await assert.rejects(
    guard.run(JOB, () => {}),
    REPLACED,
  );
});
