import type { InMemoryRuns } from 'cronlatch/memory';
import type { RunKey } from '#cronlatch/ledger/run';
import type { Bench, BrokenRuns } from './broken-run-store';

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
    caughtBy: 'L4 both instances have the same now',
    breaks({ runs }) {
      const aheadMs = (instances += 1) * 3_600_000;
      return { now: () => new Date(runs.now().getTime() + aheadMs) };
    },
  },
  {
    does: 'has a clock that stands still',
    caughtBy: 'L4 the store’s now moves on with time',
    breaks({ runs }) {
      const first = runs.now();
      return { now: () => first };
    },
  },
  {
    does: 'takes times from the host',
    caughtBy: 'L-26 a pending or failed run is due at its next attempt, not before',
    breaks: () => ({ now: () => new Date() }),
  },
  {
    does: 'has no clock',
    caughtBy: 'L4 a peek at a job without runs returns now, and nothing else',
    breaks: () => ({ now: () => new Date(NaN) }),
  },
  {
    does: 'has a new id in every instance',
    caughtBy: 'L1 both instances have the same place id',
    breaks: () => ({ id: `mine ${(instances += 1)}` }),
  },
  {
    does: 'ignores scopes',
    caughtBy: 'L1 job, scope and period each distinguish runs',
    breaks: foldingKeys(() => '', ['scope']),
  },
  {
    does: 'ignores jobs',
    caughtBy: 'L3 a claim of another job, scope or period completes nothing',
    breaks: foldingKeys(() => '', ['job']),
  },
  ...PARTS.map((part) => ({
    does: `ignores case in ${part}`,
    caughtBy: {
      job: 'L-57 jobs that look or sort alike have separate runs',
      scope: 'L-57 scopes that look or sort alike have separate runs',
      periodKey: 'L-57 periods that look or sort alike are separate runs',
    }[part],
    breaks: foldingKeys((text) => text.toLowerCase(), [part]),
  })),
  {
    does: 'ignores accents',
    caughtBy: 'L-57 a query for one key does not return another',
    breaks: foldingKeys(withoutAccents),
  },
  {
    does: 'normalizes keys',
    caughtBy: 'L-57 periods that look or sort alike are separate runs',
    breaks: foldingKeys((text) => text.normalize()),
  },
  {
    does: 'removes quotes from keys',
    caughtBy: 'L-57 keys with SQL or template syntax are ordinary keys',
    breaks: foldingKeys((text) => text.replaceAll(/['"\\;]/g, '')),
  },
  {
    does: 'removes invisible characters from keys',
    caughtBy: 'L-57 random keys are separate runs',
    breaks: ({ runs }) => ({
      add: ({ run, events }) =>
        runs.add({ run: { ...run, periodKey: run.periodKey.replaceAll(/\p{Cf}/gu, '') }, events }),
    }),
  },
  {
    does: 'counts code units, and truncates keys to 64',
    caughtBy: 'L-57 64 characters are kept exactly in every part of a key, also outside the basic plane',
    breaks: foldingKeys((text) => text.slice(0, 64)),
  },
  {
    does: 'keeps the events of deleted runs',
    caughtBy: 'L-14 a deleted key can be inserted again, without its old events',
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
