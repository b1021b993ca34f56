import type { RunKey } from '#cronlatch/ledger/run';
import type { Bench, BrokenRuns } from './broken-run-store';
import type { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import type { Mutants } from '../contract-mutants/overlay';

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

export const BROKEN_TABLES: Mutants<BrokenRuns> = {
  'both instances have the same now (L4)': {
    'has a different clock in every instance'({ runs }) {
      const aheadMs = (instances += 1) * 3_600_000;
      return { now: () => new Date(runs.now().getTime() + aheadMs) };
    },
  },
  'the store’s now moves on with time (L4)': {
    'has a clock that stands still'({ runs }) {
      const first = runs.now();
      return { now: () => first };
    },
  },
  'a pending or failed run is due at its next attempt, not before (L-26)': {
    'takes times from the host': () => ({ now: () => new Date() }),
  },
  'a peek at a job without runs returns now, and nothing else (L4)': {
    'has no clock': () => ({ now: () => new Date(NaN) }),
  },
  'job, scope and period each distinguish runs (L1)': { 'ignores scopes': foldingKeys(() => '', ['scope']) },
  'a claim of another job, scope or period completes nothing (L3)': {
    'ignores jobs': foldingKeys(() => '', ['job']),
  },
  'a query for one key does not return another (L-57)': { 'ignores accents': foldingKeys(withoutAccents) },
  'periods that look or sort alike are separate runs (L-57)': {
    'ignores case in periodKey': foldingKeys((text) => text.toLowerCase(), ['periodKey']),
    'normalizes keys': foldingKeys((text) => text.normalize()),
  },
  'keys with SQL or template syntax are ordinary keys (L-57)': {
    'removes quotes from keys': foldingKeys((text) => text.replaceAll(/['"\\;]/g, '')),
  },
  'jobs that look or sort alike have separate runs (L-57)': {
    'ignores case in job': foldingKeys((text) => text.toLowerCase(), ['job']),
  },
  'scopes that look or sort alike have separate runs (L-57)': {
    'ignores case in scope': foldingKeys((text) => text.toLowerCase(), ['scope']),
  },
  'random keys are separate runs (L-57)': {
    'removes invisible characters from keys': ({ runs }) => ({
      add: ({ run, events }) =>
        runs.add({ run: { ...run, periodKey: run.periodKey.replaceAll(/\p{Cf}/gu, '') }, events }),
    }),
  },
  '64 characters are kept exactly in every part of a key, also outside the basic plane (L-57)': {
    'counts code units, and truncates keys to 64': foldingKeys((text) => text.slice(0, 64)),
  },
  'a deleted key can be inserted again, without its old events (L-14)': {
    'keeps the events of deleted runs': keepingEvents(),
  },
};

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
