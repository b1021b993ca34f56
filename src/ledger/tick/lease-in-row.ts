import type { Lock } from '../../core';
import { describeRun } from './claim-run';
import { isOurs } from './decide-outcome';
import type { LedgerContext } from '../ledger-context';
import type { RunContext } from './run-context';
import type { Decision, FoundRun } from '../run-store';
import { limitOf } from '../store-statements';

/**
 * The end of the lease that the row of a run holds. Under another lock, nothing else shows that the run still goes on,
 * so that an extension by the handler has to move it.
 */
export class LeaseInRow {
  #untilMs: number;

  /** @param untilMs monotonic: the row holds this end, or a later one */
  constructor(
    private readonly context: LedgerContext,
    private readonly run: RunContext,
    untilMs: number,
  ) {
    this.#untilMs = untilMs;
  }

  /** Never rejects: the extension of the lock itself holds. */
  async cover(lock: Lock): Promise<void> {
    const { run, context } = this;
    const remainingMs = Math.ceil(lock.remainingMs());
    const untilMs = context.clock.monotonicMs() + remainingMs;
    if (untilMs <= this.#untilMs || run.completion === 'committed') return;
    try {
      // A transaction that began before such a write could not complete the run: PostgreSQL 40001, MariaDB 1020.
      if (run.completion === 'sent') throw new Error('a transaction that is open is to complete the run');
      const move = (found: FoundRun | undefined): Decision<boolean> => prolonged(found, run, remainingMs);
      if (!(await context.store.change(run.claim, move, limitOf(context))))
        throw new Error('the row is no longer that of this attempt');
      this.#untilMs = untilMs;
    } catch (error) {
      const message = `The extension of lock '${lock.name}' is not in the row of ${describeRun(run.claim)}. If the lock is renamed or moved before the run ends, another instance can take the run over.`;
      context.events.emit('guard:warning', { message, error });
    }
  }
}

/** A little too late is safe: the store's now is that of the statement, and the length was measured before. */
function prolonged(
  found: FoundRun | undefined,
  { claim }: RunContext,
  remainingMs: number,
): Decision<boolean> {
  if (found === undefined || found.run.state !== 'running' || !isOurs(found.run, claim))
    return { value: false };
  const { run, now } = found;
  const leaseUntil = new Date(now.getTime() + remainingMs + 1);
  const isCovered = run.leaseUntil !== undefined && run.leaseUntil >= leaseUntil;
  return isCovered ? { value: true } : { value: true, write: { ...run, leaseUntil } };
}
