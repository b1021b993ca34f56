import type { Run } from '#cronlatch/ledger/run';
import { rewriting, rewritingEvents, type Bench, type BrokenRunStore } from './broken-run-store';

export const BROKEN_CHANGES: readonly BrokenRunStore[] = [
  {
    does: 'makes a row where a decision found none',
    caughtBy: 'L3 where there is no row, the decision sees none, and nothing is written',
    breaks: ({ store, runs }) => ({
      change(key, decide) {
        if (runs.row(key) !== undefined) return store.change(key, decide);
        const { value, write } = decide(undefined);
        if (write !== undefined) runs.add({ run: write, events: [] });
        return Promise.resolve(value);
      },
    }),
  },
  {
    does: 'reads first, and writes later',
    caughtBy: 'L3 50 changes at once lose no update',
    breaks: deciding(async () => await Promise.resolve()),
  },
  {
    does: 'decides twice',
    caughtBy: 'L-01 of 32 that claim a pending run at once, one wins',
    breaks: ({ store }) => ({
      change: (key, decide) => store.change(key, decide).then(() => store.change(key, decide)),
    }),
  },
  {
    does: 'sees in its rows what it wrote there last by itself',
    caughtBy: 'L3 a decision sees what was committed last, by whichever instance',
    breaks({ store }) {
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
  {
    does: 'changes the first run of the job',
    caughtBy: 'L3 changes of ten runs at once each go to their own',
    breaks: ({ store, runs }) => ({
      change: (key, decide) => store.change(runs.rows()[0]?.run ?? key, decide),
    }),
  },
  {
    does: 'changes every run of the period',
    caughtBy: 'L3 a change of one run leaves all others as they are',
    breaks: rewritingOthers('change', (run, key) => run.periodKey === key.periodKey && { attempt: 99 }),
  },
  {
    does: 'tells a decision the time of the row',
    caughtBy: 'L3 a decision sees the row as it stands, the store’s now, and what it decides comes out',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, (found) => decide(found && { ...found, now: found.run.updatedAt })),
    }),
  },
  {
    does: 'forgets to write a field',
    caughtBy: 'L3 a decision writes every field that may change, and the other instance sees it',
    breaks: rewriting('change', (_, before) => ({ lockId: before?.lockId })),
  },
  {
    does: 'leaves a field alone that is to be emptied',
    caughtBy: 'L3 a decision can empty every field that may be empty',
    breaks: rewriting('change', ({ error }, before) => ({ error: error ?? before?.error })),
  },
  {
    does: 'writes what may not change',
    caughtBy: 'L1 key, period and creation stay, whatever a decision writes',
    breaks: rewriting('change', (_, __, now) => ({ createdAt: now })),
  },
  {
    does: 'dates a row that it has looked at',
    caughtBy: 'L3 a decision that writes nothing leaves the row as it was',
    breaks: ({ store }) => ({
      change: (key, decide) => store.change(key, (found) => ({ write: found?.run, ...decide(found) })),
    }),
  },
  {
    does: 'dates a row of which only events are written',
    caughtBy: 'L-54 a decision may write events alone, and the row stays as it was',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, (found) => {
          const decision = decide(found);
          return decision.events?.length ? { write: found?.run, ...decision } : decision;
        }),
    }),
  },
  {
    does: 'has an error of its own for a decision that throws',
    caughtBy: 'L3 an error of a decision comes out as it is, and nothing is written',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, decide).catch((cause: unknown) => {
          throw new Error('could not be changed', { cause });
        }),
    }),
  },
  {
    does: 'gives its own instants away',
    caughtBy: 'L3 what a caller does to an answer changes no row',
    breaks: ({ runs }) => ({
      find: () => Promise.resolve(runs.rows().map(({ run }) => run)),
    }),
  },
  {
    does: 'overwrites what was completed meanwhile',
    caughtBy: 'L-21 a completion and a change at once do not overwrite each other',
    breaks: deciding(async () => await Promise.resolve()),
  },
  {
    does: 'loses the events of a decision',
    caughtBy: 'L-52 the events of a decision are written in their order, at the store’s now',
    breaks: rewritingEvents('change', (_, before) => before),
  },
  {
    does: 'writes over events that are there',
    caughtBy: 'L-52 events are kept when others come, and told from the oldest on',
    breaks: rewritingEvents('change', (events, before) =>
      events.length > before.length ? events.slice(before.length) : events,
    ),
  },
  {
    does: 'keeps one event of each kind',
    caughtBy: 'L-52 events of changes at once are all kept',
    breaks: rewritingEvents('change', (events) =>
      events.filter(({ kind }, i) => events.findIndex((event) => event.kind === kind) === i),
    ),
  },
  {
    does: 'cuts what it is told of an event to 255 bytes',
    caughtBy: 'L-56 the longest actor, detail and token of an event come back whole',
    breaks: rewritingEvents('change', (events) =>
      events.map((event) => ({ ...event, actor: event.actor.slice(0, 64) })),
    ),
  },
  {
    does: 'keeps no texts of four-byte characters',
    caughtBy: 'L-56 the longest texts come back whole, four-byte characters too',
    breaks: rewriting('change', ({ error }) => ({
      error: error?.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'),
    })),
  },
  {
    does: 'takes backslashes for escapes',
    caughtBy: 'L-56 texts that would break out of a statement come back as they are',
    breaks: rewriting('change', ({ error }) => ({ error: error?.replaceAll('\\', '') })),
  },
  {
    does: 'takes an empty text for none',
    caughtBy: 'L-56 an empty text is not none',
    breaks: rewriting('change', ({ error }) => ({ error: error === '' ? undefined : error })),
  },
];

/** Lets others in between what a decision sees and what it writes. */
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

/** Writes into rows that nobody spoke of. */
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
