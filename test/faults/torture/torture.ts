import { randomUUID } from 'node:crypto';
import { judge } from './judge/judge';
import type { RowResult } from './judge/verdict';
import type { Progress } from './report/progress';
import type { Row } from './rows';
import { runSide } from './row/run-side';
import { SIDES, type SideName } from './slots';
import type { InstanceOrders } from './side/orders';

export type Surroundings = Pick<InstanceOrders, 'options' | 'redisUrl'>;

/** Takes every row through on both sides, and counts. When it settles, no process of it is left. */
export class Torture {
  readonly #stopped: Promise<never>;
  /** Ends it early, and then `run` rejects with the reason. */
  stop: (reason: Error) => void = () => {};

  constructor(
    private readonly surroundings: Surroundings,
    private readonly progress: Pick<Progress, 'goesOn' | 'settled'>,
  ) {
    this.#stopped = new Promise((_, reject) => (this.stop = reject));
    this.#stopped.catch(() => {}); // Whoever waits for it is told.
  }

  /** The delicate rows one by one, the others two at a time: their jobs sleep. */
  async run(rows: readonly Row[]): Promise<RowResult[]> {
    const results: RowResult[] = [];
    for (let index = 0; index < rows.length;) {
      const turn = rows.slice(index, index + (rows[index]?.isDelicate ? 1 : 2));
      results.push(...(await this.#together(turn, (row) => this.#runRow(row))));
      index += turn.length;
    }
    return results;
  }

  async #runRow(row: Row): Promise<RowResult> {
    const counts = await this.#together(
      SIDES,
      async (side) => [side, await this.#runSide(row, side)] as const,
    );
    return { row, counts: Object.fromEntries(counts) as RowResult['counts'] };
  }

  async #runSide(row: Row, side: SideName): Promise<RowResult['counts'][SideName]> {
    // A Redis that the environment names may have seen such a row before.
    const job = `row-${row.number}-${randomUUID()}`;
    const story = await runSide({ row, side, job, ...this.surroundings }, this.#stopped, (soFar) =>
      this.progress.goesOn(row, side, judge(soFar)),
    );
    const count = judge(story);
    this.progress.settled(row, side, count);
    return count;
  }

  /** When one fails, the others are ended before that is told. */
  async #together<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
    const running = all.map(run);
    try {
      return await Promise.all(running);
    } catch (error) {
      this.stop(error as Error);
      await Promise.allSettled(running);
      throw error;
    }
  }
}
