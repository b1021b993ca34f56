import type { Contender } from './contender';

/** The pairs of one contender in its turn. */
export interface Slice {
  readonly elapsedMs: number;
  /** One for each pair of lock and unlock. */
  readonly latenciesMs: readonly number[];
}

/** Both take turns, so that a slow phase of the machine slows both down. */
export interface Round {
  readonly baseline: Slice;
  readonly library: Slice;
}

export interface Contest {
  readonly baseline: Contender;
  readonly library: Contender;
  readonly rounds: number;
  readonly sliceMs: number;
  readonly onRound: (done: readonly Round[]) => void;
}

/**
 * For each contender, before the measurement: it opens connections, prepares statements, and compiles most of
 * the code.
 */
const WARM_UP_PAIRS = 3000;

/** The contender that begins alternates, too, so that neither always follows the other. */
export async function alternate({ baseline, library, rounds, sliceMs, onRound }: Contest): Promise<Round[]> {
  for (const contender of [baseline, library])
    for (let pair = 1; pair <= WARM_UP_PAIRS; pair += 1) await contender.pair();
  const done: Round[] = [];
  for (let number = 1; number <= rounds; number += 1) {
    done.push(number % 2 === 0 ? await libraryFirst() : await baselineFirst());
    onRound(done);
  }
  return done;

  async function baselineFirst(): Promise<Round> {
    return { baseline: await slice(baseline, sliceMs), library: await slice(library, sliceMs) };
  }

  async function libraryFirst(): Promise<Round> {
    return { library: await slice(library, sliceMs), baseline: await slice(baseline, sliceMs) };
  }
}

async function slice(contender: Contender, sliceMs: number): Promise<Slice> {
  const latenciesMs: number[] = [];
  const startedAtMs = performance.now();
  let nowMs = startedAtMs;
  while (nowMs - startedAtMs < sliceMs) {
    const pairStartedAtMs = nowMs;
    await contender.pair();
    nowMs = performance.now();
    latenciesMs.push(nowMs - pairStartedAtMs);
  }
  return { elapsedMs: nowMs - startedAtMs, latenciesMs };
}
