/**
 * A job as its operators see it: they start it now, follow its progress and its log, pause it, and get a notice when it
 * fails. On the command line, they would type what stands behind each `>`.
 *
 * Run: npm run example operated-job
 * Prints:
 *   > cronlatch run settle --reason 'the bank was late'
 *   settling 2 payments of …
 *   settle: running, 1 of 2
 *   notice: The run of job 'settle' for … failed permanently … Error: the bank closed the connection. …
 *   > cronlatch logs settle
 *   settling 2 payments of …
 *   settle: running, 1 of 2
 *   payment of account [hidden]
 *   > cronlatch pause settle --reason 'the bank is down' --until 1h
 *   settle: on hold
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { currentRun, type JobGuard } from 'cronlatch';
import type { Notice } from 'cronlatch/notify';
import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';
import { operations, type JobOverview } from 'cronlatch/operations';

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'operated-job-'));
  const database = `sqlite:${join(folder, 'jobs.db')}`;
  await createTables(database);
  let receive = (_notice: Notice): void => {};
  const noticed = new Promise<Notice>((resolve) => (receive = resolve));
  const guard = await createJobGuard(database, {
    logger: false,
    keepLog: '64 kB',
    redact: (line) => line.replace(/\d{8,}/g, '[hidden]'),
    notify: (notice) => receive(notice), // Or webhook({ url, secret }).
  });
  const oncePer = { period: 'day', timeZone: 'UTC', retry: { maxAttempts: 1 } } as const;
  guard.wrap({ name: 'settle', lockAtMostFor: '1m', keepAlive: true, oncePer }, async () => {
    const run = currentRun();
    console.log(`settling 2 payments of ${run.businessDate}`);
    run.progress(1, 2);
    await eventually(async () => (await stateOf(guard))?.running[0]?.done === 1);
    console.log('settle: running, 1 of 2');
    run.log('payment of account 0012345678');
    throw new Error('the bank closed the connection');
  });
  await guard.runOverdue(); // An instance does this every minute. It registers the job, and serves requests.

  const anne = { actor: 'anne@ops', reason: 'the bank was late' };
  console.log(`> cronlatch run settle --reason '${anne.reason}'`);
  await operations(guard).run({ job: 'settle' }, anne);
  await guard.runOverdue();
  console.log(`notice: ${(await noticed).text.split('\n')[0]}`);

  console.log('> cronlatch logs settle');
  const run = await guard.ledger.last('settle');
  let log = '';
  await eventually(async () => {
    log = run ? (await guard.ledger.log(run)).map(({ lines }) => lines).join('') : '';
    return log.includes('[hidden]');
  });
  process.stdout.write(log);

  console.log(`> cronlatch pause settle --reason 'the bank is down' --until 1h`);
  await operations(guard).pause({ job: 'settle' }, { ...anne, reason: 'the bank is down', until: '1h' });
  console.log(`settle: ${(await stateOf(guard))?.notes[0]?.kind}`);
  await guard.close();
  rmSync(folder, { recursive: true });
}

async function stateOf(guard: JobGuard): Promise<JobOverview | undefined> {
  return (await operations(guard).overview()).jobs[0];
}

/** The store gets progress and logs at most once a second. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(100);
}

void main();
