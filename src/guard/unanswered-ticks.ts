import type { OncePerRequest } from '../ledger/tick/plan-tick';
import { periodAt } from '../ledger/periods/period';
import type { HostTime } from '../ledger/tick/ledger-snapshot';

/** The oldest are dropped beyond this. */
const MOST_KEPT = 1000;

/** Ticks that ended without a row for their period: one each for a job, scope and period. They end with the process. */
export class UnansweredTicks {
  readonly #ticks = new Map<string, OncePerRequest<unknown>>();

  /** @returns `false` when an older one had to be dropped */
  keep(request: OncePerRequest<unknown>): boolean {
    const { policy, scope, at, scheduledAt, heard } = request;
    const { key } = periodAt(at ?? scheduledAt ?? new Date(heard?.wallMs ?? 0), policy.period);
    const kept = JSON.stringify([policy.job, scope, key, at ?? clockSetting(heard)]);
    if (!this.#ticks.has(kept)) this.#ticks.set(kept, { ...request, purpose: 'again' });
    if (this.#ticks.size <= MOST_KEPT) return true;
    const [oldest = ''] = this.#ticks.keys();
    this.#ticks.delete(oldest);
    return false;
  }

  /** Those of one job and scope are taken out: who is not answered again is kept again. */
  take(job: string, scope: string): OncePerRequest<unknown>[] {
    const taken = [...this.#ticks].filter(([, { policy, scope: of }]) => policy.job === job && of === scope);
    for (const [kept] of taken) this.#ticks.delete(kept);
    return taken.map(([, request]) => request);
  }

  get all(): readonly OncePerRequest<unknown>[] {
    return [...this.#ticks.values()];
  }
}

/** Which minute the wall clock showed when the monotonic one began: a clock that was set may put two days into one period. */
function clockSetting(heard: HostTime | undefined): number | undefined {
  return heard && Math.round((heard.wallMs - heard.monotonicMs) / 60_000);
}
