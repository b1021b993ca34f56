import assert from 'node:assert/strict';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { nextEvent } from '../../support/benches/guard';
import { testOnServers } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';
import { createRunTables } from '../../support/databases/run-tables';
import { statementLog } from '../../support/databases/statement-log';
import { closedAtOnce, LEASE_MS } from '../../support/jobs/coordinators';

const slot = (second: number) => ({ job: 'settle', at: new Date(Date.UTC(2026, 10, 20, 3, 0, second)) });
const keyOf = ({ job, at }: ReturnType<typeof slot>): string => `${job}:${at.toISOString()}`;

testOnServers(
  'a won tick costs an insert and an update, a lost tick an insert and at most a locking read',
  async (bench) => {
    await createRunTables(bench.application);
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const sent = (): string[] => log.statements().map((text) => text.trim().replace(/[\s;].*/s, ''));
    const application = await bench.connected({ url: log.url });
    const options = { pollInterval: false, logger: false } as const;
    const guard = closedAtOnce(bench, await createJobGuard(application, options));
    const coordinator = new LedgerRunCoordinator({ guard });
    const elsewhere = closedAtOnce(bench, await createJobGuard(bench.application, options));
    const other = new LedgerRunCoordinator({ guard: elsewhere });
    const runs = async (second: number): Promise<void> => {
      assert.equal(await coordinator.shouldRun(keyOf(slot(second)), LEASE_MS), true);
      const completed = nextEvent(guard, 'run:completed');
      callsOf(guard).slots.completed(slot(second), undefined);
      await completed;
    };
    await runs(0); // The first tick also checks the tables, and looks for lost runs, which may go on after it.
    await eventually(() => log.statements().some((text) => text.includes(' AS member')), 'a look');

    await runs(1);
    assert.deepEqual(sent(), ['INSERT', 'UPDATE'], 'won, and completed');

    assert.equal(await other.shouldRun(keyOf(slot(2)), LEASE_MS), true);
    assert.equal(await coordinator.shouldRun(keyOf(slot(2)), LEASE_MS), false);
    const begin = bench.server === 'postgres' ? 'BEGIN' : 'START';
    // PostgreSQL's insert reports that the row exists; the others need a read.
    const lost = bench.server === 'postgres' ? ['INSERT'] : ['INSERT', 'SELECT'];
    assert.deepEqual(sent(), lost, 'lost');

    assert.equal(await coordinator.shouldRun(keyOf(slot(3)), LEASE_MS), true);
    const failed = nextEvent(guard, 'run:failed');
    callsOf(guard).slots.failed(slot(3), new Error('no bank'));
    await failed;
    assert.deepEqual(sent(), ['INSERT', begin, 'SELECT', 'UPDATE', 'INSERT', 'COMMIT'], 'won, and failed');
  },
);
