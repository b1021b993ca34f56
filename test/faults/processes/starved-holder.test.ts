import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { suite, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { testWith } from '../../support/databases/fresh';
import { Child, type Message } from '../../processes/child';
import type { StalledCommand } from '../../processes/fixtures/stalled-holder';
import { withHolders, type Holder } from './stalled/with-holders';

const LOCK_AT_MOST_FOR_MS = 2000;
/** Two leases, so that the lock must be renewed, or is lost. */
const LASTS_MS = 2 * LOCK_AT_MOST_FOR_MS;

/**
 * A holder without time for renewals may lose its lease, but its signal must not abort while it has the
 * lease.
 */
async function assertNoFalseVerdict(holder: Holder, t: TestContext): Promise<void> {
  const { events, stillOurs, accepted, lostEarlyMs } = await holder.received('over');
  const extensions = events.filter((event) => event === 'lock:extended').length;
  t.diagnostic(`renewed ${extensions} times, ${lostEarlyMs === undefined ? 'kept' : 'lost'}`);
  // No other instance requests the lock, so its token is the highest.
  assert.equal(accepted, true);
  if (lostEarlyMs === undefined) {
    // A release that could not be written in time has no result.
    assert.notEqual(stillOurs, false);
    assert.ok(extensions > 0, 'it cannot have lasted that long');
    return;
  }
  assert.ok(lostEarlyMs <= 0, `notified ${lostEarlyMs} ms before the end of the lease`);
  assert.equal(stillOurs, false);
}

void suite('a holder on a machine short of resources', () => {
  testWith(
    'sqlite',
    'short of memory, it is not notified of a lost lease while it has it (F-06)',
    (database, t) =>
      withHolders(database, async ({ start }) => {
        const orders = { name: 'job', lockAtMostForMs: LOCK_AT_MOST_FOR_MS, keepAlive: true };
        const holder = await start(orders, { environment: { NODE_OPTIONS: '--max-old-space-size=64' } });
        holder.send({});
        await holder.received('enter');
        holder.send({ churnMs: LASTS_MS } satisfies StalledCommand);
        await assertNoFalseVerdict(holder, t);
      }),
  );

  testWith(
    'mysql',
    'short of processors, it is not notified of a lost lease while it has it (F-07)',
    (database, t) =>
      withHolders(database, async ({ start }) => {
        const orders = { name: 'job', lockAtMostForMs: LOCK_AT_MOST_FOR_MS, keepAlive: true };
        const holder = await start({ ...orders, nice: true });
        holder.send({});
        await holder.received('enter');
        const busy = Array.from(
          { length: 2 * availableParallelism() },
          () => new Child<Message>('busy.js', {}),
        );
        try {
          await setTimeout(LASTS_MS);
        } finally {
          await Promise.all(busy.map((child) => child.end()));
        }
        holder.send({} satisfies StalledCommand);
        await assertNoFalseVerdict(holder, t);
      }),
  );
});
