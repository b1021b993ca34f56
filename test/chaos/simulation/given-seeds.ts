/** The schedules to simulate: a number of seeds, from a first one. */
export interface Seeds {
  readonly from: number;
  readonly most: number;
}

/** From `CRONLATCH_SEED`: `7` for one schedule, `1..50000` for a range; `undefined` if it is not set. */
export function givenSeeds(given = process.env.CRONLATCH_SEED): Seeds | undefined {
  if (given === undefined) return undefined;
  const [, first, last = first] = /^(\d+)(?:\.\.(\d+))?$/.exec(given) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (from <= to) return { from, most: to - from + 1 };
  throw new RangeError(`CRONLATCH_SEED is '${given}': it must be a seed, like 7, or a range, like 1..50000.`);
}
