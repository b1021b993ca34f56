import { describeRun } from './claim-run';
import type { LedgerContext } from '../ledger-context';
import type { RunKey } from '../run';
import { storedResult } from './stored-text';

/** What is kept of a run's result. Where it cannot be, nothing is, and that is told. */
export function keptResult(
  { events }: Pick<LedgerContext, 'events'>,
  run: RunKey,
  value: unknown,
): string | undefined {
  const stored = storedResult(value);
  if ('text' in stored) return stored.text;
  const message = `The result of ${describeRun(run)} is no JSON, and is not kept.`;
  events.emit('guard:warning', { message, error: stored.cannot });
  return undefined;
}
