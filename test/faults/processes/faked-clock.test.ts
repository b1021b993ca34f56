import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  databaseOn,
  SERVER_NAMES,
  reportLack,
  type ServerName,
  type TestDatabase,
} from '../../support/databases/fresh';
import { rateOfClocks, testWithFakedClock, type FakedClock } from '../../support/clocks/faked';
import { migratedDataSource } from '../../support/databases/lock-table';
import { runningServer } from '../../support/servers/running';
import { Child } from '../../processes/child';
import type { StalledCommand } from '../../processes/fixtures/stalled-holder';
import type { ZonedReport, ZonedSettings } from '../../processes/fixtures/zoned-application';
import { closing } from '../../support/benches/closing';
import { withHolders, type Holder } from './stalled/with-holders';

const LEASE_US = 600_000_000;

/** On servers, because their clock is not that of the process. */
function testOnServers(
  name: string,
  body: (database: TestDatabase, clock: FakedClock) => Promise<void>,
  on: readonly ServerName[] = SERVER_NAMES,
): void {
  for (const server of on) {
    if (runningServer(server) === undefined) continue; // Its other tests report that it is missing.
    testWithFakedClock(`${server}: ${name}`, async (clock) => {
      await using database = closing(await databaseOn(server));
      await body(database, clock);
    });
  }
}

/** The next reported renewal. */
async function renewed(holder: Holder): Promise<void> {
  const seen = holder.messages.length;
  while (!holder.messages.slice(seen).some(({ event }) => event === 'extended')) await setTimeout(20);
}

void suite('a process whose clock differs from the database’s', { concurrency: 4 }, () => {
  reportLack('sqlite', 'its clock is that of the process');

  for (const shown of ['+1d', '-1d']) {
    testOnServers(
      `a clock that is wrong by ${shown} does not affect a lock (F-20)`,
      async (database, clock) => {
        clock.set(shown);
        await (await migratedDataSource(database)).destroy();
        await using child = closing(
          new Child<ZonedReport>('zoned-application.js', {
            argument: { options: database.options } satisfies ZonedSettings,
            environment: clock.environment,
          }),
        );
        const report = await child.received('report');
        assert.ok(report.beforeUs <= report.lockedAtUs && report.lockedAtUs <= report.afterUs);
        assert.equal(report.lockUntilUs - report.lockedAtUs, LEASE_US);
        assert.ok(Math.abs(report.lockedAtUs / 1000 - Date.now()) < 3_600_000, 'the time is the database’s');
        assert.deepEqual([report.grantedAfter5, report.grantedAfter11], [false, true]);
      },
    );
  }

  testOnServers(
    'a clock that is set back again and again loses no lease, and one that jumps by more than a tenth of it does (F-20)',
    (database, clock) =>
      withHolders(database, async ({ start }) => {
        const orders = { name: 'job', lockAtMostForMs: 3000, keepAlive: true };
        const holder = await start(orders, { environment: clock.environment });
        holder.send({});
        await holder.received('enter');
        for (const shown of ['-1h', '-1d', '-2d']) {
          clock.set(shown);
          await renewed(holder);
        }
        clock.set(`-${2 * 86_400 - 2}`); // Two seconds later, during a lease of three.
        const { events, stillOurs } = await holder.received('over');
        assert.deepEqual(events.slice(-4), ['abort', 'lock:lost', 'run:completed', 'lock:released']);
        // In the database the lock was held until then.
        assert.notEqual(stillOurs, undefined);
      }),
    ['mysql'],
  );

  for (const rate of [0.5, 2]) {
    testOnServers(
      `a holder whose clocks run at ${rate} renews its lease in time (F-25)`,
      (database) =>
        withHolders(database, async ({ start, provider }) => {
          const orders = { name: 'job', lockAtMostForMs: 6000, keepAlive: true };
          const holder = await start(orders, { environment: rateOfClocks(rate) });
          holder.send({});
          await holder.received('enter');
          for (let renewals = 0; renewals < 2; renewals += 1) {
            await renewed(holder);
            assert.equal(await provider.lock({ name: 'job', lockAtMostFor: '10m' }), undefined);
          }
          holder.send({} satisfies StalledCommand);
          const { events, stillOurs } = await holder.received('over');
          assert.deepEqual([events.includes('abort'), stillOurs], [false, true]);
        }),
      ['mysql'],
    );
  }
});
