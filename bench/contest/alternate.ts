import type { Contender } from './contender';

/** What one contender did in its turn. */
export interface Slice {
  readonly elapsedMs: number;
  /** One for each call of `perform`. */
  readonly latenciesMs: readonly number[];
}

/** The slices of all contenders, in their order: that of the baseline first. A slow phase of the machine slows all down. */
export type Round = readonly Slice[];

export interface Turns {
  readonly workers: number;
  readonly rounds: number;
  readonly sliceMs: number;
  /** How long each contender warms up at most. */
  readonly warmUpMs: number;
  readonly onRound: (done: readonly Round[]) => void;
}

/**
 * For each contender, before the measurement: it opens connections, prepares statements, and compiles most of
 * the code.
 */
const WARM_UP_CALLS = 3000;

/** The contender that begins alternates, too, so that none always follows the same other one. */
export async function alternate(contenders: readonly Contender[], turns: Turns): Promise<Round[]> {
  const { workers, rounds, sliceMs, warmUpMs, onRound } = turns;
  for (const contender of contenders)
    await slice(contender, { workers, sliceMs: warmUpMs, calls: WARM_UP_CALLS });
  const done: Round[] = [];
  for (let number = 0; number < rounds; number += 1) {
    const slices: Slice[] = [];
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const position = (number + turn) % contenders.length;
      const contender = contenders[position];
      if (contender !== undefined) slices[position] = await slice(contender, { workers, sliceMs });
    }
    done.push(slices);
    onRound(done);
  }
  return done;
}

interface SliceLength {
  readonly workers: number;
  readonly sliceMs: number;
  /** It ends after this number of calls, too. */
  readonly calls?: number;
}

/** Each worker calls at least once. The slice ends when each has ended the call that it was in. */
export async function slice(
  contender: Contender,
  { workers, sliceMs, calls = Infinity }: SliceLength,
): Promise<Slice> {
  const latenciesMs: number[] = [];
  const startedAtMs = performance.now();
  const work = async (worker: number): Promise<void> => {
    let nowMs = performance.now();
    do {
      const callStartedAtMs = nowMs;
      await contender.perform(worker);
      nowMs = performance.now();
      latenciesMs.push(nowMs - callStartedAtMs);
    } while (nowMs - startedAtMs < sliceMs && latenciesMs.length < calls);
  };
  // After a failure, the other workers must not use connections that are being closed.
  const ends = await Promise.allSettled(Array.from({ length: workers }, (_, worker) => work(worker)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { elapsedMs: performance.now() - startedAtMs, latenciesMs };
}
