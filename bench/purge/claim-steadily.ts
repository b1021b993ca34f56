import type { JobGuard } from 'cronlatch';
import { setTimeout as pause } from 'node:timers/promises';

const EVERY_MS = 50;

/** Runs one period after another, each as a new row of the ledger, until `end` is called. */
export function claimSteadily(guard: JobGuard): { end(): Promise<readonly number[]> } {
  const latenciesMs: number[] = [];
  let hasEnded = false;
  const claiming = claim();
  return {
    async end() {
      hasEnded = true;
      await claiming;
      return latenciesMs;
    },
  };

  async function claim(): Promise<void> {
    for (let period = 1; !hasEnded; period += 1) {
      const beganMs = performance.now();
      const oncePer = { period: () => String(period), timeZone: 'UTC' };
      const result = await guard.run({ name: 'claimed', lockAtMostFor: '1m', oncePer }, () => {});
      if (!result.executed) throw new Error(`Run ${period} was skipped: ${result.reason}.`);
      const tookMs = performance.now() - beganMs;
      latenciesMs.push(tookMs);
      await pause(Math.max(0, EVERY_MS - tookMs));
    }
  }
}
