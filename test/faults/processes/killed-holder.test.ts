import assert from 'node:assert/strict';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { testOnEvery } from '../../support/databases/fresh';
import { percentiles } from '../../support/checks/percentiles';
import { lockRows, migratedDataSource, type LockRow } from '../../support/databases/lock-table';
import { sampleSize } from '../../support/checks/sample-size';
import { Child } from '../../processes/child';
import type { TickerMessage } from '../../processes/fixtures/ticker';

type Ticker = Child<TickerMessage>;

interface Inside {
  readonly holder: Ticker;
  readonly enteredAtUs: number;
}

const LANES = sampleSize({ fast: 1, full: 4 });
const KILLS = sampleSize({ fast: 1, full: 30 });
const LOCK_AT_MOST_FOR_MS = 4000;
const TICK_MS = 500;

/**
 * Processes that request one lock at their ticks, each at its own times. The process that gets the lock stays
 * in its run.
 */
class Crew {
  /** With the one run that each of them starts, which lasts until the process is killed. */
  readonly #all = new Map<Ticker, Promise<Inside>>();

  constructor(
    private readonly options: DataSourceOptions,
    readonly name: string,
  ) {}

  async enlist(count: number): Promise<void> {
    const { options, name } = this;
    const argument = { options, name, lockAtMostForMs: LOCK_AT_MOST_FOR_MS, tickMs: TICK_MS };
    const tickers = Array.from({ length: count }, () => new Child<TickerMessage>('ticker.js', { argument }));
    for (const ticker of tickers) this.#all.set(ticker, this.#entering(ticker));
    await Promise.all(tickers.map((ticker) => ticker.received('ready')));
    for (const ticker of tickers) ticker.send({});
  }

  without(one: Ticker): Ticker[] {
    return [...this.#all.keys()].filter((ticker) => ticker !== one);
  }

  /** Kills one permanently. */
  async kill(one: Ticker): Promise<void> {
    this.#all.delete(one);
    one.kill('SIGKILL');
    assert.deepEqual(await one.ended, [null, 'SIGKILL']);
  }

  /** The process that is inside its run. */
  inside(): Promise<Inside> {
    return Promise.any(this.#all.values());
  }

  async end(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((ticker) => ticker.end()));
  }

  #entering(holder: Ticker): Promise<Inside> {
    const inside = holder
      .received('enter', { withinMs: 600_000 })
      .then(({ atUs }) => ({ holder, enteredAtUs: atUs }));
    inside.catch(() => {}); // A process that ends without a run is not a failure: `inside` waits for another.
    return inside;
  }
}

async function rowOf(dataSource: DataSource, name: string): Promise<LockRow> {
  const [row, ...others] = (await lockRows(dataSource)).filter((each) => each.name === name);
  assert.ok(row !== undefined && others.length === 0);
  return row;
}

function refusalsOf({ messages }: Ticker) {
  return messages.filter((message) => message.event === 'refused');
}

/** @returns how many milliseconds after the end of the lease the next run started */
async function killAndFollow(dataSource: DataSource, crew: Crew, replacements: number): Promise<number> {
  const { holder, enteredAtUs: begunAtUs } = await crew.inside();
  const survivors = crew.without(holder);
  const sinceThen = {
    matching: ({ requestedAtUs }: { requestedAtUs: number }) => requestedAtUs >= begunAtUs,
  };
  await Promise.all(survivors.map((survivor) => survivor.received('refused', sinceThen)));
  await crew.kill(holder);
  const enlisted = crew.enlist(replacements);
  const left = await rowOf(dataSource, crew.name);
  assert.match(left.lockedBy, new RegExp(`/${holder.pid}/`), 'the lease outlives its holder');

  const { holder: next, enteredAtUs } = await crew.inside();
  const taken = await rowOf(dataSource, crew.name);
  assert.match(taken.lockedBy, new RegExp(`/${next.pid}/`));
  assert.ok(taken.lockedAtUs >= left.lockUntilUs, 'granted before lock_until');
  assert.ok(enteredAtUs >= left.lockUntilUs, 'entered before lock_until');

  // Each process reports its ticks in order: after this one has arrived, all earlier ones have.
  const matching = ({ requestedAtUs }: { requestedAtUs: number }): boolean =>
    requestedAtUs >= taken.lockedAtUs;
  const others = survivors.filter((survivor) => survivor !== next);
  await Promise.all(others.map((other) => other.received('refused', { matching })));
  const whileFree = survivors
    .flatMap(refusalsOf)
    .filter(
      ({ requestedAtUs, answeredAtUs }) =>
        requestedAtUs >= left.lockUntilUs && answeredAtUs < taken.lockedAtUs,
    );
  assert.deepEqual(whileFree, [], 'a tick after lock_until was refused');
  await enlisted;
  return (enteredAtUs - left.lockUntilUs) / 1000;
}

testOnEvery(
  'a holder that is killed inside its run blocks the job until lock_until, and the first tick after that runs (F-01)',
  async (database, t) => {
    const dataSource = await migratedDataSource(database);
    const crews = Array.from({ length: LANES }, (_, lane) => new Crew(database.options, `close-day-${lane}`));
    const recoveriesMs: number[] = [];
    const lane = async (crew: Crew): Promise<void> => {
      await crew.enlist(4);
      for (let kill = 1; kill <= KILLS; kill += 1) {
        recoveriesMs.push(await killAndFollow(dataSource, crew, kill < KILLS ? 1 : 0));
      }
    };
    try {
      await Promise.all(crews.map(lane));
      t.diagnostic(
        `from the end of the lease to the next run, of ${recoveriesMs.length}, at ticks each ${TICK_MS} ms: ${percentiles(recoveriesMs)}`,
      );
    } finally {
      await Promise.all(crews.map((crew) => crew.end()));
      await dataSource.destroy();
    }
  },
);
