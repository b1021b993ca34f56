import type { Row } from '../rows';
import { CALM_MS, LEAD_MS, QUIET_MS } from '../row/settling';
import type { SideName } from '../slots';

/** The approximate time for a side of a row, after its processes are ready. */
export function expectedMs({ everyS, fires, jobMs, known }: Row, side: SideName): number {
  const firesMs = fires * everyS * 1000;
  const untilOverMs = LEAD_MS + (everyS * 1000) / 2 + firesMs;
  if (side === 'cronlatch') return untilOverMs + Math.max(0, fires * jobMs - firesMs) + CALM_MS;
  return untilOverMs + (known === 'lost' ? QUIET_MS : Math.max(jobMs, CALM_MS));
}
