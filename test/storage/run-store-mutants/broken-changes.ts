import type { Run } from '#cronlatch/ledger/run';
import { rewriting, rewritingEvents, type Bench, type BrokenRunStore } from './broken-run-store';
import type { Mutants } from '../contract-mutants/overlay';

export const BROKEN_CHANGES: Mutants<BrokenRunStore> = {
  'without a row, the decision gets none, and nothing is written (L3)': {
    'creates a row if a decision finds none': ({ store, runs }) => ({
      change(key, decide) {
        if (runs.row(key) !== undefined) return store.change(key, decide);
        const { value, write } = decide(undefined);
        if (write !== undefined) runs.add({ run: write, events: [] });
        return Promise.resolve(value);
      },
    }),
  },
  '50 simultaneous changes lose no update (L3)': {
    'reads first, and writes later': deciding(async () => await Promise.resolve()),
  },
  'of 32 simultaneous claims of a pending run, one wins (L-01)': {
    'calls a decision twice': ({ store }) => ({
      change: (key, decide) => store.change(key, decide).then(() => store.change(key, decide)),
    }),
  },
  'a decision gets the last committed row, regardless of which instance wrote it (L3)': {
    'passes its own last write to a decision'({ store }) {
      const known = new Map<string, Run>();
      return {
        change: (key, decide) =>
          store.change(key, (found) => {
            const run = known.get(key.periodKey) ?? found?.run;
            const decision = decide(found && run && { ...found, run });
            const { write = run } = decision;
            if (write !== undefined) known.set(key.periodKey, write);
            return decision;
          }),
      };
    },
  },
  'simultaneous changes of ten runs each change their own run (L3)': {
    'changes the first run of the job': ({ store, runs }) => ({
      change: (key, decide) => store.change(runs.rows()[0]?.run ?? key, decide),
    }),
  },
  'a change of one run leaves all others unchanged (L3)': {
    'changes every run of the period': rewritingOthers(
      'change',
      (run, key) => run.periodKey === key.periodKey && { attempt: 99 },
    ),
  },
  'a decision gets the current row and the store’s now, and its value is returned (L3)': {
    'passes the time of the row to a decision': ({ store }) => ({
      change: (key, decide) =>
        store.change(key, (found) => decide(found && { ...found, now: found.run.updatedAt })),
    }),
  },
  'a decision can write every mutable field, and the other instance sees it (L3)': {
    'does not write one of the fields': rewriting('change', (_, before) => ({ lockId: before?.lockId })),
  },
  'a decision can clear every optional field (L3)': {
    'does not clear a field': rewriting('change', ({ error }, before) => ({ error: error ?? before?.error })),
  },
  'key, period and creation stay, regardless of what a decision writes (L1)': {
    'writes immutable fields': rewriting('change', (_, __, now) => ({ createdAt: now })),
  },
  'a decision that writes nothing leaves the row unchanged (L3)': {
    'updates the time of a row that it only reads': ({ store }) => ({
      change: (key, decide) => store.change(key, (found) => ({ write: found?.run, ...decide(found) })),
    }),
  },
  'a decision can write events alone, and the row stays unchanged (L-54)': {
    'updates the time of a row if only events are written': ({ store }) => ({
      change: (key, decide) =>
        store.change(key, (found) => {
          const decision = decide(found);
          return decision.events?.length ? { write: found?.run, ...decision } : decision;
        }),
    }),
  },
  'the error of a decision is rethrown unchanged, and nothing is written (L3)': {
    'replaces the error of a decision': ({ store }) => ({
      change: (key, decide) =>
        store.change(key, decide).catch((cause: unknown) => {
          throw new Error('could not be changed', { cause });
        }),
    }),
  },
  'modifying a returned value changes no row (L3)': {
    'returns its own Date objects': ({ runs }) => ({
      find: () => Promise.resolve(runs.rows().map(({ run }) => run)),
    }),
  },
  'a simultaneous completion and change do not overwrite each other (L-21)': {
    'overwrites a completion that came in between': deciding(async () => await Promise.resolve()),
  },
  'the events of a decision are written in order, at the store’s now (L-52)': {
    'loses the events of a decision': rewritingEvents('change', (_, before) => before),
  },
  'new events do not replace earlier ones, and events are returned oldest first (L-52)': {
    'overwrites existing events': rewritingEvents('change', (events, before) =>
      events.length > before.length ? events.slice(before.length) : events,
    ),
  },
  'the events of simultaneous changes are all kept (L-52)': {
    'keeps one event of each kind': rewritingEvents('change', (events) =>
      events.filter(({ kind }, i) => events.findIndex((event) => event.kind === kind) === i),
    ),
  },
  'the longest actor, detail and token of an event are returned whole (L-56)': {
    'truncates the texts of an event to 255 bytes': rewritingEvents('change', (events) =>
      events.map((event) => ({ ...event, actor: event.actor.slice(0, 64) })),
    ),
  },
  'the longest texts are returned whole, also four-byte characters (L-56)': {
    'loses texts with four-byte characters': rewriting('change', ({ error }) => ({
      error: error?.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'),
    })),
  },
  'texts with SQL or template syntax are returned unchanged (L-56)': {
    'treats backslashes as escapes': rewriting('change', ({ error }) => ({
      error: error?.replaceAll('\\', ''),
    })),
  },
  'an empty text differs from no text (L-56)': {
    'treats an empty text as missing': rewriting('change', ({ error }) => ({
      error: error === '' ? undefined : error,
    })),
  },
};

/** Lets other calls run between the read and the write of a decision. */
function deciding(meanwhile: () => Promise<void>) {
  return ({ store }: Bench): Pick<Bench['store'], 'change'> => ({
    async change(key, decide) {
      const found = await store.change(key, (row) => ({ value: row }));
      await meanwhile();
      const decision = decide(found);
      return await store.change(key, () => decision);
    },
  });
}

/** Writes into rows that the call did not name. */
export function rewritingOthers(
  method: 'change' | 'complete',
  rewrite: (run: Run, key: Pick<Run, 'job' | 'scope' | 'periodKey'>) => Partial<Run> | false,
) {
  return ({ store, runs }: Bench) => {
    const act = store[method].bind(store) as (key: Run, ...rest: unknown[]) => Promise<never>;
    return {
      [method](key: Run, ...rest: unknown[]) {
        for (const row of runs.rows()) {
          const isAsked = row === runs.row(key);
          const change = !isAsked && rewrite(row.run, key);
          if (change) row.run = { ...row.run, ...change };
        }
        return act(key, ...rest);
      },
    };
  };
}
