import { isTransactional } from '../worker/orders';
import type { Evidence, FinalRun } from './evidence';

/**
 * L1 to L3: each run is completed once, by the attempt whose effects exist, and only one call reported it as
 * executed.
 */
export function checkRuns({ runs, keys, journal }: Evidence): string[] {
  const byKey = new Map(runs.map((run) => [run.key, run]));
  const complaint = new Map<string, number>();
  for (const entry of journal)
    if (entry.k === 'run' && entry.verdict === 'executed')
      complaint.set(entry.key, (complaint.get(entry.key) ?? 0) + 1);
  const twice = [...complaint].filter(([, count]) => count > 1);
  return [
    ...twice.map(([key, count]) => `${key} was reported as executed ${count} times`),
    ...keys.flatMap((key) => {
      const run = byKey.get(key);
      return run?.state === 'completed' ? checkEffects(run) : [`${key} is ${run?.state ?? 'missing'}`];
    }),
  ];
}

function checkEffects({ key, attempt, effects }: FinalRun): string[] {
  const complaint = `${key}, completed as attempt ${attempt}, has effects of the attempts ${effects.join(', ') || 'none'}`;
  if (isTransactional(key)) return effects.length === 1 && effects[0] === attempt ? [] : [complaint];
  const isOnce = new Set(effects).size === effects.length;
  return isOnce && Math.max(...effects) === attempt ? [] : [complaint];
}
