import type { FinalRun } from './judge/evidence';
import type { Place } from './place';

/** The runs in the ledger, with their effects. */
export async function finalRuns(place: Place): Promise<FinalRun[]> {
  const runs = await place.ask('SELECT period_key, state, attempt FROM cronlatch_run');
  const effects = new Map<string, number[]>();
  for (const { run, attempt } of await place.ask('SELECT run, attempt FROM effect')) {
    const key = String(run);
    effects.set(key, [...(effects.get(key) ?? []), Number(attempt)]);
  }
  return runs.map(({ period_key, state, attempt }) => {
    const key = String(period_key);
    return { key, state: String(state), attempt: Number(attempt), effects: effects.get(key) ?? [] };
  });
}
