import { declareLockJob } from '../support/jobs/lock-job';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { runningJob } from '../support/benches/guard';
import { testRedis } from '../support/benches/redis';
import { closing } from '../support/benches/closing';
import { sqliteDatabase } from '../support/databases/fresh';
import { cronlatch } from './cronlatch';

const [SQLITE, REDIS] = ['integrations/better-sqlite3', 'storage/redis'].map((folder) =>
  JSON.stringify(resolve('dist', folder, 'index.js')),
);

const IOREDIS = JSON.stringify(resolve('node_modules/ioredis'));

/** The file of an application with its locks in Redis. `LOCKS_URL` is the address of Redis. */
function appOn(url: string, keyPrefix: string): string {
  return `const { Redis } = require(${IOREDIS});
  const client = new Redis(process.env.LOCKS_URL).on('error', () => {});
  const options = { id: 'orders', keyPrefix: '${keyPrefix}', client, statementTimeout: '1s' };
  const lockProvider = new (require(${REDIS}).RedisLockProvider)(options);
  exports.guard = require(${SQLITE}).createJobGuard('${url}', { lockProvider, logger: false });`;
}

testRedis('status, why and locks show locks in Redis, and that Redis is gone', async (bench) => {
  await using database = closing(sqliteDatabase());
  const url = `sqlite:${(database.options as { database: string }).database}`;
  const init = await cronlatch(['init', '--yes'], { env: { DATABASE_URL: url } });
  assert.deepEqual([init.status, init.stderr], [0, '']);
  const options = { lockProvider: bench.provider(), logger: false, pollInterval: false } as const;
  await using guard = closing(await createJobGuard(url, options));
  for (const name of ['busy', 'idle']) declareLockJob(guard, { name, lockAtMostFor: '10m' });
  await guard.runOverdue();
  const job = await runningJob(guard, { name: 'busy', lockAtMostFor: '10m' });
  const app = join(dirname(url.replace('sqlite:', '')), `${randomUUID()}.cjs`);
  writeFileSync(app, appOn(url, bench.keyPrefix));
  const call = (args: string, LOCKS_URL = bench.url) =>
    cronlatch([...args.split(' '), '--app', app], { env: { LOCKS_URL } });

  assert.match((await call('status')).stdout, /2 jobs: 1 running, 1 no record\n/);
  assert.match((await call('why busy')).stdout, /Lock 'busy' is held by /);
  const locks = await call('locks');
  assert.deepEqual([locks.status, /\nbusy +▶ held/.test(locks.stdout)], [0, true]);

  const gone = await call('status --check', 'redis://127.0.0.1:1');
  assert.deepEqual(
    [gone.status, gone.stdout],
    [
      5,
      "The lock provider 'orders' did not answer. No job gets its lock, and it is unknown which locks are held.\n",
    ],
  );
  const why = await call('why busy', 'redis://127.0.0.1:1');
  assert.match(why.stdout, /^.+ · times in \S+\nThe lock provider 'orders' did not answer\./);
  const shown = await call('status --json', 'redis://127.0.0.1:1');
  const { problems, jobs } = JSON.parse(shown.stdout) as { problems: unknown[]; jobs: { state: string }[] };
  assert.deepEqual([problems.length, jobs.map(({ state }) => state)], [1, ['unreachable', 'unreachable']]);
  assert.equal((await call('locks', 'redis://127.0.0.1:1')).status, 1, 'an error, not an empty list');
  job.finish();
  await job.result;
});
