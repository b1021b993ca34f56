import type { Run } from 'cronlatch';
import type { FoundRun, RunStore } from 'cronlatch/provider';
import { overlay } from '../../../storage/contract-mutants/overlay';
import type { LedgerBreakage } from './ledger-world';

interface PlantedLedgerBug extends LedgerBreakage {
  readonly does: string;
  /** The first that gives it away. */
  readonly seed: number;
}

/** Decisions of this kind see another row than there is. */
function seeing(kinds: 'of claims' | 'of ends', as: (found: FoundRun) => Partial<Run>): LedgerBreakage {
  const isMeant = (value: unknown): boolean => isOfClaim(value) === (kinds === 'of claims');
  return {
    store: (store) => ({
      change: (key, decide, options) =>
        store.change(
          key,
          (found) => {
            const decision = decide(found);
            if (found === undefined || !isMeant(decision.value)) return decision;
            return decide({ ...found, run: { ...found.run, ...as(found) } });
          },
          options,
        ),
    }),
  };
}

function isOfClaim(value: unknown): boolean {
  const { kind } = value as { kind?: string };
  return kind === 'claimed' || kind === 'refused';
}

/** Decisions come out otherwise than they were made. */
function writing(as: (write: Run, found: FoundRun) => Partial<Run>): LedgerBreakage {
  return {
    store: (store) => ({
      change: (key, decide, options) =>
        store.change(
          key,
          (found) => {
            const decision = decide(found);
            const { write } = decision;
            if (write === undefined || found === undefined) return decision;
            return { ...decision, write: { ...write, ...as(write, found) } };
          },
          options,
        ),
    }),
  };
}

/** A completion asks for less than it should. */
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

function withClient(client: (store: RunStore) => Partial<RunStore>): LedgerBreakage {
  return { client };
}

/** A claim looks at its lease, too, before it takes a run over. */
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
    does: 'claims what is completed',
    seed: 42,
    ...seeing('of claims', ({ run, now }) =>
      run.state === 'completed' ? { state: 'pending', nextAttemptAt: now } : {},
    ),
  },
  {
    does: 'claims what is not due yet',
    seed: 42,
    ...seeing('of claims', ({ run, now }) => (run.nextAttemptAt === undefined ? {} : { nextAttemptAt: now })),
  },
  {
    does: 'claims what was given up',
    seed: 42,
    ...seeing('of claims', ({ run, now }) => (run.state === 'failed' ? { nextAttemptAt: now } : {})),
  },
  {
    does: 'repeats what is to be held for a person',
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
    does: 'takes over under another lock, whatever the lease',
    seed: 62,
    ...seeing('of claims', ({ run, now }) => ({ ...run, leaseUntil: now })),
  },
  {
    does: 'counts attempts from one at each',
    seed: 1,
    ...writing((write) => (write.state === 'running' ? { attempt: 1 } : {})),
  },
  {
    does: 'claims a row that somebody else has made',
    seed: 273,
    store: (store) => ({ insert: (run, options) => store.insert(run, options).then(() => true) }),
  },
  {
    does: 'takes a claim without an answer for granted',
    seed: 2,
    ...withClient((store) => ({ insert: (run, options) => store.insert(run, options).catch(() => true) })),
  },
];

const OF_ENDS: readonly PlantedLedgerBug[] = [
  {
    does: 'completes without asking whose claim it is',
    seed: 7,
    ...completing((run) => run.state === 'running'),
  },
  {
    does: 'completes whatever has become of the run',
    seed: 2,
    ...completing((run, claimedBy) => run.claimedBy === claimedBy),
  },
  { does: 'lets whoever comes last complete', seed: 2, ...completing(() => true) },
  {
    does: 'takes a completion without an answer for one',
    seed: 6,
    ...withClient((store) => ({
      complete: (...args) => store.complete(...args).catch(() => true),
    })),
  },
  {
    does: 'takes a completion that was refused for one',
    seed: 2,
    ...withClient((store) => ({ complete: (...args) => store.complete(...args).then(() => true) })),
  },
  {
    does: 'has every run done again whose completion was not answered',
    seed: 6,
    ...withClient((store) => ({
      complete: (claim, result, options) =>
        store.complete(claim, result, options).catch(async () => {
          const again = ({ run, now }: FoundRun): Run => ({ ...run, state: 'pending', nextAttemptAt: now });
          const decide = (found: FoundRun | undefined) => ({ value: true, write: found && again(found) });
          return await store.change(claim, decide, options);
        }),
    })),
  },
  {
    does: 'takes a completion for lost that was not answered',
    seed: 57,
    ...seeing('of ends', ({ run }) => (run.state === 'completed' ? { claimedBy: 'somebody else' } : {})),
  },
  {
    does: 'takes a completion of its own for refused',
    seed: 2,
    ...withClient((store) => ({
      complete: (...args) => store.complete(...args).then(() => false),
      change: async (key, decide, options) => {
        const [run] = await store.find({ ...key, order: 'newest-first', limit: 1 }, options);
        return run?.state === 'completed'
          ? decide(undefined).value
          : await store.change(key, decide, options);
      },
    })),
  },
  {
    does: 'forgets to try again what has failed',
    seed: 1,
    ...writing((write) => (write.state === 'failed' ? { nextAttemptAt: undefined } : {})),
  },
  {
    does: 'gives up too early',
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

const OF_WHAT_IS_OWED: readonly PlantedLedgerBug[] = [
  { does: 'tells nobody what is due', seed: 10, store: () => ({ owed: () => Promise.resolve([]) }) },
  {
    does: 'does not see whose holder has vanished',
    seed: 33,
    store: (store, runs) => ({
      async owed(jobs, options) {
        const isRunning = ({ job, scope }: { readonly job: string; readonly scope: string }): boolean =>
          runs.rows().some(({ run }) => run.job === job && run.scope === scope && run.state === 'running');
        return (await store.owed(jobs, options)).filter((owed) => !isRunning(owed));
      },
    }),
  },
  {
    does: 'waits for ever for a holder that has vanished',
    seed: 2,
    ...seeing('of claims', ({ run, now }) => ({
      ...run,
      lockId: 'another',
      leaseUntil: new Date(now.getTime() + 1),
    })),
  },
  {
    does: 'takes what was missed for recorded',
    seed: 15,
    store: (store) => ({
      peek: (request, options) =>
        store.peek(request, options).then((peek) => ({ ...peek, firstPeriodStart: undefined })),
    }),
  },
  { does: 'brings back nothing without a tick', seed: 1, forgetsJobs: true },
  {
    does: 'forgets what was purged beside a run that is locked',
    seed: 19,
    store: (store, runs) => ({
      purge(request, options) {
        // In memory it is done before it returns.
        const purged = store.purge(request, options);
        for (const { events } of runs.rows()) events.length = 0;
        return purged;
      },
    }),
  },
];

const OF_LEASES: readonly PlantedLedgerBug[] = [
  { does: 'runs a job inside itself whose lease is over', seed: 1, ignoresLeaseInside: true },
];

export const PLANTED_LEDGER_BUGS = [...OF_LEASES, ...OF_CLAIMS, ...OF_ENDS, ...OF_WHAT_IS_OWED];
