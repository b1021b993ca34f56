import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { testOnEvery, testWith, type TestDatabase } from '../../support/databases/fresh';
import { JOB } from '../../support/benches/lock';
import { lockRows, migratedDataSource, shiftBack } from '../../support/databases/lock-table';
import { Child } from '../../processes/child';
import type { DyingMessage, DyingOrders } from '../../processes/fixtures/dying-holder';
import { closing } from '../../support/benches/closing';

type Ending = readonly [number | null, NodeJS.Signals | null];

interface Death {
  readonly orders: Omit<DyingOrders, 'options'>;
  readonly ending: Ending;
  /** The events from its handler. */
  readonly heard: readonly DyingMessage['event'][];
  readonly environment?: Record<string, string>;
}

const MINUTE_MS = 60_000;

/** The whole lease of ten minutes remains; then the next holder gets the lock, with a higher token. */
async function assertLeaseOutlives(
  database: TestDatabase,
  { orders, ending, heard, environment }: Death,
): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  await using provider = closing(new TypeOrmLockProvider(dataSource));
  await using holder = closing(
    new Child<DyingMessage>('dying-holder.js', {
      argument: { options: database.options, ...orders } satisfies DyingOrders,
      environment,
      isQuiet: true,
    }),
  );
  assert.deepEqual(await holder.endedWithin(60_000), ending);
  assert.deepEqual(
    holder.messages.map(({ event }) => event),
    heard,
  );
  const [left] = await lockRows(dataSource);
  assert.ok(
    left !== undefined && left.lockedBy.includes(`/${holder.pid}/`) && !left.lockedBy.endsWith('/released'),
  );
  assert.equal(left.lockUntilUs - left.lockedAtUs, 10 * MINUTE_MS * 1000);
  await shiftBack(dataSource, 9 * MINUTE_MS);
  assert.equal(await provider.lock(JOB), undefined);
  await shiftBack(dataSource, MINUTE_MS);
  const next = await provider.lock(JOB);
  assert.ok(next?.fencingToken !== undefined && next.fencingToken > left.token);
}

const KILLED: readonly Death[] = [
  {
    orders: { killedBetween: 'the grant and the handler' },
    ending: [null, 'SIGKILL'],
    heard: [],
  },
  {
    orders: { killedBetween: 'the handler and the release' },
    ending: [null, 'SIGKILL'],
    heard: ['handler began', 'handler ended'],
  },
];

const ENDED: readonly Death[] = [
  { orders: { inside: 'calls process.exit' }, ending: [3, null], heard: ['handler began'] },
  { orders: { inside: 'calls process.abort' }, ending: [null, 'SIGABRT'], heard: ['handler began'] },
  { orders: { inside: 'leaves a rejection unhandled' }, ending: [1, null], heard: ['handler began'] },
  { orders: { inside: 'throws an uncaught error' }, ending: [1, null], heard: ['handler began'] },
  {
    orders: { inside: 'runs out of memory' },
    ending: [null, 'SIGABRT'],
    heard: ['handler began'],
    environment: { NODE_OPTIONS: '--max-old-space-size=128' },
  },
];

void suite('a lease outlives its process', { concurrency: 2 }, () => {
  for (const death of KILLED) {
    testOnEvery(
      `a process that is killed between ${death.orders.killedBetween} leaves its lease (F-02)`,
      (database) => assertLeaseOutlives(database, death),
    );
  }
  for (const death of ENDED) {
    testWith(
      'sqlite',
      `a process whose job ${death.orders.inside} leaves its lease (F-08, F-09)`,
      (database) => assertLeaseOutlives(database, death),
    );
  }
});
