import { randomUUID } from 'node:crypto';
import { judge } from './judge/judge';
import type { RowResult } from './judge/verdict';
import type { Progress } from './report/progress';
import type { Row } from './rows';
import { runSide } from './row/run-side';
import { SIDES, type SideName } from './slots';
import type { InstanceOrders } from './side/orders';

export type Surroundings = Pick<InstanceOrders, 'options' | 'redisUrl'>;

/** Runs every row on both sides, and counts. When it settles, none of its processes is left. */
export class Torture {
  readonly #stopped: Promise<never>;
  /** Ends it early: `run` then rejects with the reason. */
  stop: (reason: Error) => void = () => {};

  constructor(
    private readonly surroundings: Surroundings,
    private readonly progress: Pick<Progress, 'goesOn' | 'settled'>,
  ) {
    this.#stopped = new Promise((_, reject) => (this.stop = reject));
    this.#stopped.catch(() => {}); // Those that wait for it get the error.
  }

  /** The delicate rows run one by one, the others two at a time, because their jobs sleep. */
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
    // A Redis from the environment may have keys of such a row already.
    const job = `row-${row.number}-${randomUUID()}`;
    const story = await runSide({ row, side, job, ...this.surroundings }, this.#stopped, (soFar) =>
      this.progress.goesOn(row, side, judge(soFar)),
    );
    const count = judge(story);
    this.progress.settled(row, side, count);
    return count;
  }

  /** If one fails, the others end before it rejects. */
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
