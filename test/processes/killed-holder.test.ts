import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { testOnEvery } from '../support/databases';
import { lockRows, migratedDataSource, type LockRow } from '../support/lock-table';
import { Child } from './child';
import type { TickerMessage } from './fixtures/ticker';

type Ticker = Child<TickerMessage>;

const LOCK_AT_MOST_FOR_MS = 4000;
const TICK_MS = 500;

/** The first of them that is inside its run. */
function firstInside(tickers: readonly Ticker[]): Promise<{ holder: Ticker; enteredAtUs: number }> {
  return Promise.any(
    tickers.map(async (holder) => ({ holder, enteredAtUs: (await holder.told('enter')).atUs })),
  );
}

async function onlyRow(dataSource: DataSource): Promise<LockRow> {
  const [row, ...others] = await lockRows(dataSource);
  assert.ok(row !== undefined && others.length === 0);
  return row;
}

function refusalsOf({ messages }: Ticker) {
  return messages.filter((message) => message.event === 'refused');
}

testOnEvery(
  'F-01 a holder that is killed inside its run blocks the job until lock_until, and the first tick after that runs',
  async (database) => {
    const dataSource = await migratedDataSource(database);
    const argument = { options: database.options, lockAtMostForMs: LOCK_AT_MOST_FOR_MS, tickMs: TICK_MS };
    const tickers = Array.from({ length: 4 }, () => new Child<TickerMessage>('ticker.js', { argument }));
    try {
      await Promise.all(tickers.map((ticker) => ticker.told('ready')));
      for (const ticker of tickers) ticker.send({});
      const { holder } = await firstInside(tickers);
      const survivors = tickers.filter((ticker) => ticker !== holder);
      await Promise.all(survivors.map((survivor) => survivor.told('refused')));
      holder.kill('SIGKILL');
      assert.deepEqual(await holder.ended, [null, 'SIGKILL']);
      const left = await onlyRow(dataSource);
      assert.match(left.lockedBy, new RegExp(`/${holder.pid}/`), 'the lease outlives its holder');

      const { holder: next, enteredAtUs } = await firstInside(survivors);
      const taken = await onlyRow(dataSource);
      assert.match(taken.lockedBy, new RegExp(`/${next.pid}/`));
      assert.ok(taken.lockedAtUs >= left.lockUntilUs, 'granted before lock_until');
      assert.ok(enteredAtUs >= left.lockUntilUs, 'entered before lock_until');

      // Each tells its ticks in their order: when this one has come, all of the earlier ones have.
      const matching = ({ askedAtUs }: { askedAtUs: number }): boolean => askedAtUs >= taken.lockedAtUs;
      const others = survivors.filter((survivor) => survivor !== next);
      await Promise.all(others.map((other) => other.told('refused', { matching })));
      const whileFree = survivors
        .flatMap(refusalsOf)
        .filter(
          ({ askedAtUs, answeredAtUs }) => askedAtUs >= left.lockUntilUs && answeredAtUs < taken.lockedAtUs,
        );
      assert.deepEqual(whileFree, [], 'a tick after lock_until was refused');
    } finally {
      await Promise.all(tickers.map((ticker) => ticker.end()));
      await dataSource.destroy();
    }
  },
);
