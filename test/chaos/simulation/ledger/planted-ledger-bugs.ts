import type { Run } from 'cronlatch/provider';
import { overlay } from '../../../storage/contract-mutants/overlay';
import type { LedgerBreakage } from './ledger-world';
import type { Decision, FoundRun } from '#cronlatch/ledger/run-store';

interface PlantedLedgerBug extends LedgerBreakage {
  readonly does: string;
  /** The first seed that reveals it. */
  readonly seed: number;
}

/** Decisions about existing runs are replaced. */
function deciding(
  instead: <Value>(decide: (found: FoundRun) => Decision<Value>, found: FoundRun) => Decision<Value>,
): LedgerBreakage {
  return {
    store: (store) => ({
      change: (key, decide, options) =>
        store.change(key, (found) => (found === undefined ? decide(found) : instead(decide, found)), options),
    }),
  };
}

/** Decisions of this kind see another row than the stored one. */
function seeing(kinds: 'of claims' | 'of ends', as: (found: FoundRun) => Partial<Run>): LedgerBreakage {
  return deciding((decide, found) => {
    const decision = decide(found);
    if (isOfClaim(decision.value) !== (kinds === 'of claims')) return decision;
    return decide({ ...found, run: { ...found.run, ...as(found) } });
  });
}

function isOfClaim(value: unknown): boolean {
  const { kind } = value as { kind?: string };
  return kind === 'claimed' || kind === 'refused';
}

/** Decisions write something else. */
function writing(as: (write: Run) => Partial<Run>): LedgerBreakage {
  return deciding((decide, found) => {
    const decision = decide(found);
    const { write } = decision;
    return write === undefined ? decision : { ...decision, write: { ...write, ...as(write) } };
  });
}

/** A completion checks less than it should. */
function completing(isAllowed: (run: Run, claimedBy: string) => boolean): LedgerBreakage {
  return {
    store: (store) => ({
      complete: (claim, result, options) =>
        store.change(
          claim,
          (found) => {
            if (found === undefined || !isAllowed(found.run, claim.claimedBy)) return { value: false };
            const { run, now } = found;
            return { value: true, write: { ...run, state: 'completed', result, finishedAt: now } };
          },
          options,
        ),
    }),
  };
}

/** A claim also checks its lease before it takes a run over. */
const endlessLeases: LedgerBreakage = {
  provider: (provider) => ({
    async lock(configuration, observer) {
      const lock = await provider.lock(configuration, observer);
      return lock && overlay(lock, { remainingMs: () => 60_000 });
    },
  }),
};

const OF_CLAIMS: readonly PlantedLedgerBug[] = [
  {
    does: 'claims a completed run',
    seed: 42,
    ...seeing('of claims', ({ run, now }) =>
      run.state === 'completed' ? { state: 'pending', nextAttemptAt: now } : {},
    ),
  },
  {
    does: 'claims a run that is not due yet',
    seed: 42,
    ...seeing('of claims', ({ run, now }) => (run.nextAttemptAt === undefined ? {} : { nextAttemptAt: now })),
  },
  {
    does: 'claims a run that failed permanently',
    seed: 42,
    ...seeing('of claims', ({ run, now }) => (run.state === 'failed' ? { nextAttemptAt: now } : {})),
  },
  {
    does: 'retries a run that must be held for an operator',
    seed: 1,
    ...seeing('of claims', ({ run, now }) =>
      run.state === 'running' ? { state: 'pending', nextAttemptAt: now } : {},
    ),
  },
  {
    does: 'lets an older grant take over from a newer one',
    seed: 1705,
    ...seeing('of claims', ({ run }) => ({ ...run, fencingToken: undefined })),
    ...endlessLeases,
  },
  {
    does: 'takes over under another lock, regardless of the lease',
    seed: 62,
    ...seeing('of claims', ({ run, now }) => ({ ...run, leaseUntil: now })),
  },
  {
    does: 'counts attempts from one in each claim',
    seed: 1,
    ...writing((write) => (write.state === 'running' ? { attempt: 1 } : {})),
  },
  {
    does: 'claims a row that another instance created',
    seed: 273,
    store: (store) => ({ insert: (run, options) => store.insert(run, options).then(() => true) }),
  },
  {
    does: 'takes a claim without an answer for granted',
    seed: 2,
    client: (store) => ({ insert: (run, options) => store.insert(run, options).catch(() => true) }),
  },
];

const OF_ENDS: readonly PlantedLedgerBug[] = [
  {
    does: 'completes without checking the claim',
    seed: 7,
    ...completing((run) => run.state === 'running'),
  },
  {
    does: 'completes in every state of the run',
    seed: 2,
    ...completing((run, claimedBy) => run.claimedBy === claimedBy),
  },
  { does: 'lets the last holder complete', seed: 2, ...completing(() => true) },
  {
    does: 'reports an unanswered completion as completed',
    seed: 6,
    client: (store) => ({
      complete: (...args) => store.complete(...args).catch(() => true),
    }),
  },
  {
    does: 'reports a refused completion as completed',
    seed: 2,
    client: (store) => ({ complete: (...args) => store.complete(...args).then(() => true) }),
  },
  {
    does: 'reruns every run whose completion was not answered',
    seed: 6,
    client: (store) => ({
      complete: (claim, result, options) =>
        store.complete(claim, result, options).catch(async () => {
          const again = ({ run, now }: FoundRun): Run => ({ ...run, state: 'pending', nextAttemptAt: now });
          const decide = (found: FoundRun | undefined) => ({ value: true, write: found && again(found) });
          return await store.change(claim, decide, options);
        }),
    }),
  },
  {
    does: 'reports an unanswered completion as lost',
    seed: 57,
    ...seeing('of ends', ({ run }) => (run.state === 'completed' ? { claimedBy: 'another owner' } : {})),
  },
  {
    does: 'reports its own completion as refused',
    seed: 2,
    client: (store) => ({
      complete: (...args) => store.complete(...args).then(() => false),
      change: async (key, decide, options) => {
        const [run] = await store.find({ ...key, order: 'newest-first', limit: 1 }, options);
        return run?.state === 'completed'
          ? decide(undefined).value
          : await store.change(key, decide, options);
      },
    }),
  },
  {
    does: 'never retries a failed run',
    seed: 1,
    ...writing((write) => (write.state === 'failed' ? { nextAttemptAt: undefined } : {})),
  },
  {
    does: 'fails permanently too early',
    seed: 1,
    ...writing((write) =>
      write.state === 'failed' ? { nextAttemptAt: undefined, reason: 'exhausted' } : {},
    ),
  },
  {
    does: 'refunds attempts that were not given back',
    seed: 1,
    ...writing((write) => (write.state === 'failed' ? { attempt: write.attempt - 1 } : {})),
  },
];

const OF_OVERDUE_RUNS: readonly PlantedLedgerBug[] = [
  { does: 'hides due runs', seed: 10, store: () => ({ overdue: () => Promise.resolve([]) }) },
  {
    does: 'does not detect crashed holders',
    seed: 33,
    store: (store, runs) => ({
      async overdue(jobs, options) {
        const isRunning = ({ job, scope }: { readonly job: string; readonly scope: string }): boolean =>
          runs.rows().some(({ run }) => run.job === job && run.scope === scope && run.state === 'running');
        return (await store.overdue(jobs, options)).filter((overdue) => !isRunning(overdue));
      },
    }),
  },
  {
    does: 'waits forever for a crashed holder',
    seed: 2,
    ...seeing('of claims', ({ run, now }) => ({
      ...run,
      lockId: 'another',
      leaseUntil: new Date(now.getTime() + 1),
    })),
  },
  {
    does: 'treats missed periods as recorded',
    seed: 15,
    store: (store) => ({
      peek: (request, options) =>
        store.peek(request, options).then((peek) => ({ ...peek, firstPeriodStart: undefined })),
    }),
  },
  { does: 'restarts nothing without a tick', seed: 1, forgetsJobs: true },
  {
    does: 'forgets purged runs if a transaction locks another run',
    seed: 19,
    store: (store, runs) => ({
      purge(request, options) {
        // In memory the purge is done before the call returns.
        const purged = store.purge(request, options);
        for (const { events } of runs.rows()) events.length = 0;
        return purged;
      },
    }),
  },
];

const OF_LEASES: readonly PlantedLedgerBug[] = [
  { does: 'runs a job inside itself after its lease has expired', seed: 1, ignoresLeaseInside: true },
];

export const PLANTED_LEDGER_BUGS = [...OF_LEASES, ...OF_CLAIMS, ...OF_ENDS, ...OF_OVERDUE_RUNS];
