/** Which schedules are to be simulated: so many, from a seed on. */
export interface Seeds {
  readonly from: number;
  readonly most: number;
}

/** By `CRONLATCH_SEED`: `7` for one schedule, `1..50000` for all from one to the other; `undefined` where none is given. */
export function givenSeeds(given = process.env.CRONLATCH_SEED): Seeds | undefined {
  if (given === undefined) return undefined;
  const [, first, last = first] = /^(\d+)(?:\.\.(\d+))?$/.exec(given) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (from <= to) return { from, most: to - from + 1 };
  throw new RangeError(`CRONLATCH_SEED is '${given}': it must be a seed, like 7, or seeds, like 1..50000.`);
}
