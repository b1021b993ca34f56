import type { SimulatedHost } from './simulated-host';
import type { World } from './statement-way';

/** The faults of a host whenever it continues. */
export function strike({ faults, random, scheduler, history }: World, host: SimulatedHost): void {
  const fault = faults.atStep();
  if (fault === undefined) return;
  if (fault === 'crash') host.crashed = true;
  else if (fault === 'wall clock jump') {
    const byMs = random.pick([-3_600_000, -500, 500, 3_600_000]);
    host.wallAheadMs += byMs;
    history.wallJumps.push({ host: host.id, atMs: scheduler.nowMs, byMs });
  } else {
    const lengthMs = random.pick([20, 200, 1000, 5000]);
    const isSuspended = fault === 'suspension';
    const fromMs = scheduler.nowMs;
    host.pause(lengthMs, isSuspended);
    history.pauses.push({ host: host.id, fromMs, untilMs: fromMs + lengthMs, isSuspended });
  }
}
