// More of this subject: docs/nestjs, package/uses/nestjs.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inject, Injectable, Module } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import {
  currentRun,
  InvalidLockUseError,
  JobGuard,
  NotConfiguredError,
  OncePerDay,
  SchedulerLock,
} from 'cronlatch';
import {
  CronlatchModule,
  type CronlatchModuleAsyncOptions,
  type CronlatchModuleOptions,
  type CronlatchOptions,
  type CronlatchOptionsFactory,
} from 'cronlatch/nestjs';
import { DataSource } from 'typeorm';
import { testWith } from '../../support/databases/fresh';
import { guardBench, reasonOf } from '../../support/benches/guard';
import { refused } from '../../support/checks/refused';
import { lockRows } from '../../support/databases/lock-table';
import { application, databaseModule, RecordingLogger } from './application';

@Injectable()
class Billing {
  constructor(
    @Inject(JobGuard) readonly guard: JobGuard,
    @Inject(getDataSourceToken()) readonly dataSource: DataSource,
  ) {}

  @Cron('0 3 * * *', { timeZone: 'Asia/Tokyo' })
  @SchedulerLock('close-day', '1m')
  @OncePerDay()
  async closeDay(): Promise<string | undefined> {
    const { businessDate } = currentRun();
    await this.dataSource.query('SELECT 1');
    return businessDate;
  }
}

@Injectable()
class Options implements CronlatchOptionsFactory {
  createCronlatchOptions(): CronlatchOptions {
    return { defaultLockAtMostFor: '5m', pollInterval: false };
  }
}

@Module({ providers: [Options], exports: [Options] })
class OptionsModule {}

type How = readonly [what: string, module: () => ReturnType<typeof CronlatchModule.forRoot>];

const sync = (options?: CronlatchModuleOptions) => () => CronlatchModule.forRoot(options);
const async_ = (options: CronlatchModuleAsyncOptions) => () => CronlatchModule.forRootAsync(options);

const WAYS: readonly How[] = [
  ['forRoot()', sync()],
  ['the token of a DataSource', sync({ dataSource: DataSource, pollInterval: false })],
  ['a factory', async_({ useFactory: () => Promise.resolve({ pollInterval: false }) })],
  [
    'a factory with an injected value',
    async_({
      imports: [OptionsModule],
      inject: [Options],
      useFactory: (options: Options) => options.createCronlatchOptions(),
    }),
  ],
  [
    'a factory that provides the DataSource',
    async_({ inject: [DataSource], useFactory: (dataSource: DataSource) => ({ dataSource }) }),
  ],
  ['a class', async_({ useClass: Options })],
  ['a class from another module', async_({ imports: [OptionsModule], useExisting: Options })],
];

for (const [what, cronlatch] of WAYS) {
  testWith('sqlite', `a job runs once a day, in the zone of its @Cron: ${what}`, async (database) => {
    const app = await application({
      imports: [databaseModule(database), ScheduleModule.forRoot(), cronlatch()],
      providers: [Billing],
    });
    await app.init();
    const billing = app.get(Billing);
    const date = await billing.closeDay();
    assert.match(String(date), /^\d{4}-\d\d-\d\d$/);
    assert.equal(await billing.closeDay(), undefined);
    const run = await billing.guard.ledger.last('close-day');
    assert.deepEqual([run?.state, run?.periodKey], ['completed', date]);
    assert.deepEqual(
      (await lockRows(billing.dataSource)).map(({ name, held }) => [name, held]),
      [['close-day', false]],
    );
    await app.close();
    assert.equal(billing.guard.isClosing, true);
  });
}

testWith('sqlite', 'a DataSource with another name is found by its token', async (database) => {
  const app = await application({
    imports: [
      databaseModule(database, { name: 'jobs' }),
      CronlatchModule.forRoot({ dataSource: getDataSourceToken('jobs') }),
    ],
  });
  await app.init();
  await app.get(JobGuard).run({ name: 'job', lockAtMostFor: '1m' }, () => {});
  await app.close();
});

testWith('sqlite', 'a DataSource without a provider is passed directly', async ({ options }) => {
  const dataSource = new DataSource({ ...options, synchronize: false });
  const app = await application({ imports: [CronlatchModule.forRoot({ dataSource, lazy: true })] });
  await app.init();
  assert.ok(app.get(JobGuard) instanceof JobGuard);
  await app.close();
});

const startOf = async (imports: unknown[]): Promise<unknown> =>
  await reasonOf(application({ imports: imports as [] }));

void test('without a database the application does not start, and the error explains how to provide one', async () => {
  const reason = await startOf([CronlatchModule.forRoot()]);
  assert.ok(reason instanceof NotConfiguredError);
  assert.match(reason.message, /Pass a source: the address, .* import TypeOrmModule\.forRoot\(…\)/);
  assert.ok(
    (await startOf([CronlatchModule.forRoot({ dataSource: 'nobody' })])) instanceof NotConfiguredError,
  );
});

testWith('sqlite', 'without the lock table it does not start either', async ({ options }) => {
  const database = TypeOrmModule.forRoot({ ...options, retryAttempts: 1 });
  const reason = (await startOf([database, CronlatchModule.forRoot()])) as Error;
  assert.equal(reason.name, 'SchemaMismatchError');
});

void test('an existing guard is used, and closed with the application', async () => {
  const { guard } = guardBench();
  const app = await application({ imports: [CronlatchModule.forRoot({ guard })] });
  await app.init();
  assert.equal(app.get(JobGuard), guard);
  await app.close();
  assert.equal(guard.isClosing, true);
});

void test('a provider that cannot be modified does not stop the application from starting', async () => {
  const { guard } = guardBench();
  const refuse = (): never => {
    throw new Error('keep out');
  };
  const providers = [
    { provide: 'frozen', useValue: Object.freeze({}) },
    { provide: 'closed', useValue: new Proxy({}, { defineProperty: refuse, ownKeys: refuse }) },
  ];
  const app = await application({ imports: [CronlatchModule.forRoot({ guard })], providers });
  await assert.doesNotReject(app.init());
  await app.close();
});

void test('options for creating a guard are rejected together with an existing guard', async () => {
  const { guard } = guardBench();
  refused(() => CronlatchModule.forRoot({ guard, dataSource: 'jobs' }), 'got both a guard and dataSource,');
  const useFactory = (): CronlatchOptions => ({ guard, lockTable: 'locks' });
  const reason = (await startOf([CronlatchModule.forRootAsync({ useFactory })])) as Error;
  assert.match(reason.message, /got both a guard and lockTable,/);
});

void test('invalid close options are rejected at the start, not when the application shuts down', async () => {
  const { guard } = guardBench();
  const close = { timeout: '5s', grace: '10s' } as const;
  const refusals = [
    await startOf([CronlatchModule.forRoot({ guard, close })]),
    await startOf([CronlatchModule.forRootAsync({ useFactory: () => ({ guard, close }) })]),
  ];
  for (const reason of refusals)
    assert.match(String(reason), /grace \(10s\) of close is longer than its timeout \(5s\)/);
});

void test('a closed guard, or a promise of one, is rejected', async () => {
  const { guard } = guardBench();
  const promise = Promise.resolve(guard) as unknown as JobGuard;
  assert.match(
    String(await startOf([CronlatchModule.forRoot({ guard: promise })])),
    /await it: await createJobGuard/,
  );
  await guard.close();
  assert.ok((await startOf([CronlatchModule.forRoot({ guard })])) instanceof InvalidLockUseError);
});

void test('forRootAsync without a source of its options is rejected', () => {
  assert.throws(() => CronlatchModule.forRootAsync({}), /useFactory, useClass and useExisting/);
});

void test('a test may replace the application’s guard with its own', async () => {
  const { guard } = guardBench();
  const { Test } = await import('@nestjs/testing');
  const app = await Test.createTestingModule({ imports: [CronlatchModule.forRoot()] })
    .overrideProvider(JobGuard)
    .useValue(guard)
    .setLogger(new RecordingLogger())
    .compile();
  await app.init();
  assert.equal(app.get(JobGuard), guard);
  await app.close();
});

void test('another object in the place of the application’s guard is rejected', async () => {
  const { Test } = await import('@nestjs/testing');
  const testing = Test.createTestingModule({ imports: [CronlatchModule.forRoot()] });
  const compiled = testing
    .overrideProvider(JobGuard)
    .useValue({ on: () => () => {} })
    .setLogger(new RecordingLogger())
    .compile();
  const message = /^CronlatchModule expected a job guard, but got \{ on: /;
  await assert.rejects(compiled, { name: 'InvalidLockUseError', message });
});
