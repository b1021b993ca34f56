/** Applications without TypeORM: the module gets an address, or what the application has opened with its driver. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { Inject, Injectable } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { InvalidLockConfigurationError, JobGuard, OncePerDay, SchedulerLock } from 'cronlatch';
import {
  CronlatchModule,
  type CronlatchModuleOptions,
  type CronlatchOptions,
  type DatabaseSource,
} from 'cronlatch/nestjs';
import { DataSource } from 'typeorm';
import { testDrivers, type DriverBench } from '../../support/benches/driver';
import { guardBench, reasonOf } from '../../support/benches/guard';
import { refused } from '../../support/checks/refused';
import { eventually } from '../../support/clocks/eventually';
import { application, RecordingLogger } from './application';

const BENCH = 'bench';

@Injectable()
class Billing {
  constructor(@Inject(BENCH) private readonly bench: DriverBench) {}

  @Cron('0 3 * * *', { timeZone: 'Asia/Tokyo' })
  @SchedulerLock('close-day', '1m')
  @OncePerDay()
  async closeDay(): Promise<string | undefined> {
    await this.bench.inRunTransaction((effect) => effect("INSERT INTO effects VALUES ('2026-11-20')"));
    return 'closed';
  }

  @Cron('0 0 * * *')
  @SchedulerLock({ name: 'sync-stock', lockAtMostFor: '1m', enabled: false })
  async syncStock(): Promise<void> {}
}

/** The application, and what its logger gets from the guard. */
async function start(bench: DriverBench, options: CronlatchModuleOptions) {
  await bench.createTables();
  await bench.query('CREATE TABLE effects (day VARCHAR(10) NOT NULL)');
  const lines: string[] = [];
  const log = (message: string, context: string): void => {
    if (context === 'Cronlatch') lines.push(message);
  };
  const logger = Object.assign(new RecordingLogger(), { log });
  const imports = [ScheduleModule.forRoot(), CronlatchModule.forRoot(options)];
  const providers = [Billing, { provide: BENCH, useValue: bench }];
  const app = await application({ imports, providers }, logger);
  return { app: await app.init(), lines, complaints: logger.lines };
}

/** The kind of each driver's database. */
const KINDS = { mysql2: 'MySQL', pg: 'PostgreSQL', 'better-sqlite3': 'SQLite' };

for (const [what, sourceOf] of [
  ['an address', ({ url }: DriverBench) => url],
  ['what the application has opened', (bench: DriverBench) => bench.pool() as DatabaseSource],
] as const)
  testDrivers(
    `${what} is enough: a job runs once a day, and Nest logs its process, its database and its next time`,
    async (bench) => {
      const { app, lines, complaints } = await start(bench, { source: sourceOf(bench) });
      await eventually(() => lines.length > 0, 'a line at the start');
      const billing = app.get(Billing);
      assert.equal(await billing.closeDay(), 'closed');
      assert.equal(await billing.closeDay(), undefined);
      await app.close();
      assert.equal(app.get(JobGuard).isClosing, true);
      assert.equal((await bench.query('SELECT day FROM effects')).length, 1, 'the source is still open');
      const [started = '', ended = '', ...more] = lines;
      const self = `${hostname()}/${process.pid}`;
      const kind = KINDS[bench.driver];
      assert.match(
        started,
        new RegExp(
          `^${self} guards 2 jobs on ${kind} \\(\\S+\\): close-day (at 03:00 Asia/Tokyo|in .*), sync-stock \\(disabled\\)\\.$`,
        ),
      );
      assert.ok(ended.startsWith(`${self} run:completed: job 'close-day' for `), ended);
      assert.deepEqual([more, complaints], [[], []]);
    },
    ['mysql', 'postgres', 'sqlite'],
  );

testDrivers(
  'forRootAsync takes a source too, and a guard from an address leaves no connection open',
  async (bench) => {
    await bench.createTables();
    const countSessions = async (): Promise<number> =>
      (await bench.query('SELECT 1 FROM pg_stat_activity WHERE datname = current_database()')).length;
    const before = await countSessions();
    const useFactory = (): CronlatchOptions => ({ source: bench.url, transactionConnections: 1 });
    const app = await application({ imports: [CronlatchModule.forRootAsync({ useFactory })] });
    await app.init();
    assert.ok((await countSessions()) > before);
    await app.close();
    await eventually(async () => (await countSessions()) <= before, 'the sessions of the guard have ended');
  },
  ['postgres'],
);

async function refusal(options: CronlatchOptions): Promise<Error> {
  const cronlatch = CronlatchModule.forRootAsync({ useFactory: () => options });
  return (await reasonOf(application({ imports: [cronlatch] }))) as Error;
}

void test('a missing or unusable source stops the start, and the error has the fix and no password', async () => {
  const example = 'postgres://user:password@host/database';
  const other = 'a pool of mysql2 or pg, or a database of better-sqlite3';
  for (const [source, message] of [
    [
      '',
      `The source for CronlatchModule is an empty text. If an environment variable holds the address, set it, as in DATABASE_URL=${example}. You can also pass ${other}.`,
    ],
    [
      { password: 'hunter2' },
      `CronlatchModule cannot use a plain object. Pass ${other}, or an address such as ${example}.`,
    ],
    [
      'mongodb://app:hunter2@db.example/app',
      'The address in the source of CronlatchModule must begin with one of mysql://, mariadb://, postgres://, postgresql://, sqlite:.',
    ],
    [
      'postgres://app:hunter2@db.example',
      'The address for cronlatch/pg names no database. Add one, as in postgres://host/app.',
    ],
  ] as const) {
    const reason = await refusal({ source: source as DatabaseSource });
    assert.ok(reason instanceof InvalidLockConfigurationError, String(reason));
    assert.equal(reason.message, message);
  }
  // TypeORM is installed here, and its DataSource must not take the place of an address that is missing.
  const dataSource = {
    provide: DataSource,
    useValue: new DataSource({ type: 'better-sqlite3', database: 'x' }),
  };
  const application_ = { module: class {}, global: true, providers: [dataSource], exports: [DataSource] };
  const imports = [application_, CronlatchModule.forRoot({ source: process.env['NO_SUCH_VARIABLE'] })];
  assert.match(
    String(await reasonOf(application({ imports }))),
    /^\w+: The source for CronlatchModule is undefined/,
  );
});

void test('a source together with a DataSource or a guard is rejected', async () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: 'jobs.db' });
  const source = 'sqlite:jobs.db';
  const both = /^CronlatchModule got both a source and a dataSource, and its guard works on one database\./;
  refused(
    () => CronlatchModule.forRoot({ source, dataSource: 'jobs' }),
    'got both a source and a dataSource,',
  );
  assert.match((await refusal({ source, dataSource })).message, both);
  const { guard } = guardBench();
  assert.match((await refusal({ source, guard })).message, /^CronlatchModule got both a guard and source,/);
});
