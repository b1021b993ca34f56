import type { RunKey } from '#cronlatch/ledger/run';
import type { Bench, BrokenRuns } from './broken-run-store';
import type { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';

/** Confuses keys that `fold` makes equal. */
function foldingKeys(fold: (text: string) => string, parts: readonly (keyof RunKey)[] = PARTS) {
  const folded = (key: RunKey): string =>
    JSON.stringify(PARTS.map((part) => (parts.includes(part) ? fold(key[part]) : key[part])));
  return ({ runs }: Omit<Bench, 'store'>): Partial<InMemoryRuns> => ({
    row: (key) => runs.rows().find(({ run }) => folded(run) === folded(key)),
  });
}

const PARTS = ['job', 'scope', 'periodKey'] as const;

const withoutAccents = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '');

export const BROKEN_TABLES: readonly BrokenRuns[] = [
  {
    does: 'has a different clock in every instance',
    caughtBy: 'both instances have the same now (L4)',
    breaks({ runs }) {
      const aheadMs = (instances += 1) * 3_600_000;
      return { now: () => new Date(runs.now().getTime() + aheadMs) };
    },
  },
  {
    does: 'has a clock that stands still',
    caughtBy: 'the store’s now moves on with time (L4)',
    breaks({ runs }) {
      const first = runs.now();
      return { now: () => first };
    },
  },
  {
    does: 'takes times from the host',
    caughtBy: 'a pending or failed run is due at its next attempt, not before (L-26)',
    breaks: () => ({ now: () => new Date() }),
  },
  {
    does: 'has no clock',
    caughtBy: 'a peek at a job without runs returns now, and nothing else (L4)',
    breaks: () => ({ now: () => new Date(NaN) }),
  },
  {
    does: 'ignores scopes',
    caughtBy: 'job, scope and period each distinguish runs (L1)',
    breaks: foldingKeys(() => '', ['scope']),
  },
  {
    does: 'ignores jobs',
    caughtBy: 'a claim of another job, scope or period completes nothing (L3)',
    breaks: foldingKeys(() => '', ['job']),
  },
  ...PARTS.map((part) => ({
    does: `ignores case in ${part}`,
    caughtBy: {
      job: 'jobs that look or sort alike have separate runs (L-57)',
      scope: 'scopes that look or sort alike have separate runs (L-57)',
      periodKey: 'periods that look or sort alike are separate runs (L-57)',
    }[part],
    breaks: foldingKeys((text) => text.toLowerCase(), [part]),
  })),
  {
    does: 'ignores accents',
    caughtBy: 'a query for one key does not return another (L-57)',
    breaks: foldingKeys(withoutAccents),
  },
  {
    does: 'normalizes keys',
    caughtBy: 'periods that look or sort alike are separate runs (L-57)',
    breaks: foldingKeys((text) => text.normalize()),
  },
  {
    does: 'removes quotes from keys',
    caughtBy: 'keys with SQL or template syntax are ordinary keys (L-57)',
    breaks: foldingKeys((text) => text.replaceAll(/['"\\;]/g, '')),
  },
  {
    does: 'removes invisible characters from keys',
    caughtBy: 'random keys are separate runs (L-57)',
    breaks: ({ runs }) => ({
      add: ({ run, events }) =>
        runs.add({ run: { ...run, periodKey: run.periodKey.replaceAll(/\p{Cf}/gu, '') }, events }),
    }),
  },
  {
    does: 'counts code units, and truncates keys to 64',
    caughtBy: '64 characters are kept exactly in every part of a key, also outside the basic plane (L-57)',
    breaks: foldingKeys((text) => text.slice(0, 64)),
  },
  {
    does: 'keeps the events of deleted runs',
    caughtBy: 'a deleted key can be inserted again, without its old events (L-14)',
    breaks: keepingEvents(),
  },
];

let instances = 0;

function keepingEvents() {
  return ({ runs }: Omit<Bench, 'store'>): Partial<InMemoryRuns> => {
    const kept = keptOf(runs);
    const textOf = ({ job, scope, periodKey }: RunKey) => JSON.stringify([job, scope, periodKey]);
    return {
      delete(key) {
        kept.set(textOf(key), runs.row(key)?.events ?? []);
        return runs.delete(key);
      },
      add: (row) => runs.add({ ...row, events: [...(kept.get(textOf(row.run)) ?? []), ...row.events] }),
    };
  };
}

type Events = NonNullable<ReturnType<InMemoryRuns['row']>>['events'];

const allKept = new WeakMap<InMemoryRuns, Map<string, Events>>();

/** The same for all instances. */
function keptOf(runs: InMemoryRuns): Map<string, Events> {
  const kept = allKept.get(runs) ?? new Map<string, Events>();
  allKept.set(runs, kept);
  return kept;
}
