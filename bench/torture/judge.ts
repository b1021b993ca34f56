import type { Fault } from './rows';
import type { Run, Story, Strike } from './story';

export interface Count extends Readonly<Record<Fault, number>> {
  readonly fires: number;
  readonly runs: number;
  /** Strikes that came at the intended moment. */
  readonly hits: number;
}

/**
 * The result of one side. Each fire must complete once, and runs must never overlap, also for different
 * fires. Only a run that crashed or gave up may be followed by another for the same fire.
 */
export function judge({ slots, runs, strikes }: Story): Count {
  const inOrder = [...runs].sort((a, b) => a.beganMs - b.beganMs);
  return {
    fires: slots.length,
    runs: runs.length,
    hits: strikes.filter((strike) => isHit(strike, runs)).length,
    duplicates: inOrder.filter((run, index) => isRepeated(run, inOrder.slice(0, index))).length,
    overlaps: inOrder.filter((run, index) => overlapsOne(run, inOrder.slice(0, index))).length,
    lost: slots.filter((slotMs) => !runs.some((run) => run.slotMs === slotMs && isDone(run))).length,
  };
}

/** Although an earlier run for the same fire had not failed by then. */
function isRepeated(run: Run, earlier: readonly Run[]): boolean {
  const others = earlier.filter(({ slotMs }) => slotMs === run.slotMs);
  return others.some((other) => isDone(other) || other.endedMs > run.beganMs);
}

function overlapsOne(run: Run, earlier: readonly Run[]): boolean {
  return earlier.some(({ endedMs }) => endedMs > run.beganMs);
}

function isDone({ ending }: Run): boolean {
  return ending === 'completed';
}

function isHit({ kind, slotMs, instance, atMs }: Strike, runs: readonly Run[]): boolean {
  const ofFire = runs.filter((run) => run.slotMs === slotMs);
  switch (kind) {
    case 'kill':
      return ofFire.some((run) => run.instance === instance && run.ending === 'crashed');
    case 'stop':
      return ofFire.every((run) => run.instance !== instance);
    case 'execute':
      return ofFire.some((run) => run.instance !== instance && run.beganMs < atMs && run.endedMs > atMs);
  }
}
