import assert from 'node:assert/strict';
import type { Clock } from 'cronlatch/provider';
import { systemClock } from '#cronlatch/core/clock';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { REGISTER_EVERY_MS } from '#cronlatch/ledger/job-register';
import { createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';
import { tableOf } from '../support/checks/page';
import { testOn } from '../support/databases/fresh';
import { ServerBench } from '../support/benches/server';
import { statementLog } from '../support/databases/statement-log';

const LOCKED = { name: 'hourly', lockAtMostFor: '1m' } as const;
const HOURLY = [{ expression: '0 * * * *', dialect: 'unix' }] as const;

const JOB = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

const costs = new Map(
  tableOf('docs/once-per-business-day.md', 'what is done').map(([what, statements]) => [
    what,
    Number(statements),
  ]),
);

// The statements are the same everywhere; on this server they can be counted without its log.
testOn('postgres', 'a day costs as many statements as the page lists', async (t) => {
  const bench = await ServerBench.on('postgres');
  t.after(() => bench.dispose());
  const migrations = [
    createCronlatchMigration({ tables: ['ledger'] }),
    createCronlatchMigration({ tables: ['jobs'] }),
    createCronlatchMigration({ tables: ['operations'] }),
  ];
  const migrated = await bench.connected({ migrations });
  await migrated.runMigrations();
  const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const guard = bench.closeAtEnd(await createJobGuard(bench.dataSource({ url: log.url }), { clock }));
  const cost = async (work: () => Promise<unknown>): Promise<number> => {
    log.statements();
    await work();
    // The check of an idle connection is not one of them.
    return log.statements().filter((text) => text !== 'SELECT 1').length;
  };
  const costOfCheck = async (): Promise<number> => {
    await guard.runOverdue(); // Writes which ticks were answered.
    return await cost(() => guard.runOverdue());
  };
  const costOfRegister = async (): Promise<number> => {
    const quiet = await cost(() => guard.runOverdue());
    const scheduledAt = new Date(Date.now() + 1000); // After the time that is registered.
    await integration.execute(hourly, { task, args: [], call: () => task, scheduledAt });
    return (await cost(() => guard.runOverdue())) - quiet;
  };
  const costOfDeclaring = async (): Promise<number> => {
    const quiet = await cost(() => guard.runOverdue());
    aheadMs += REGISTER_EVERY_MS;
    return (await cost(() => guard.runOverdue())) - quiet;
  };
  const daily = guard.wrap(JOB, () => {});
  const firstEver = guard.wrap({ ...JOB, name: 'first-ever' }, () => {});
  // The first run of a process checks the tables, and inserts the lock.
  await guard.run({ ...JOB, at: new Date(0) }, () => {});
  const integration = callsOf(guard);
  const task = (): void => {};
  const declaration = { place: 'hourly', configuration: LOCKED, call: () => task };
  const hourly = integration.admitOne({ ...declaration, schedules: HOURLY });
  await guard.runOverdue(); // Registers the jobs.

  assert.deepEqual(
    Object.fromEntries(costs),
    {
      "the day's first run": await cost(() => daily()),
      '… if the lock has no row yet': await cost(() => firstEver()),
      'a tick of a completed day, with nothing overdue': await cost(() => daily()),
      'the check for overdue runs, per minute and process': await costOfCheck(),
      'the register of jobs, per minute and process': await costOfRegister(),
      '… in addition, every two minutes': await costOfDeclaring(),
    },
    'in statements',
  );
});
