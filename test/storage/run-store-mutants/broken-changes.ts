import type { Run } from '#cronlatch/ledger/run';
import { rewriting, rewritingEvents, type Bench, type BrokenRunStore } from './broken-run-store';

export const BROKEN_CHANGES: readonly BrokenRunStore[] = [
  {
    does: 'creates a row if a decision finds none',
    caughtBy: 'without a row, the decision gets none, and nothing is written (L3)',
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
    caughtBy: '50 simultaneous changes lose no update (L3)',
    breaks: deciding(async () => await Promise.resolve()),
  },
  {
    does: 'calls a decision twice',
    caughtBy: 'of 32 simultaneous claims of a pending run, one wins (L-01)',
    breaks: ({ store }) => ({
      change: (key, decide) => store.change(key, decide).then(() => store.change(key, decide)),
    }),
  },
  {
    does: 'passes its own last write to a decision',
    caughtBy: 'a decision gets the last committed row, regardless of which instance wrote it (L3)',
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
    caughtBy: 'simultaneous changes of ten runs each change their own run (L3)',
    breaks: ({ store, runs }) => ({
      change: (key, decide) => store.change(runs.rows()[0]?.run ?? key, decide),
    }),
  },
  {
    does: 'changes every run of the period',
    caughtBy: 'a change of one run leaves all others unchanged (L3)',
    breaks: rewritingOthers('change', (run, key) => run.periodKey === key.periodKey && { attempt: 99 }),
  },
  {
    does: 'passes the time of the row to a decision',
    caughtBy: 'a decision gets the current row and the store’s now, and its value is returned (L3)',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, (found) => decide(found && { ...found, now: found.run.updatedAt })),
    }),
  },
  {
    does: 'does not write one of the fields',
    caughtBy: 'a decision can write every mutable field, and the other instance sees it (L3)',
    breaks: rewriting('change', (_, before) => ({ lockId: before?.lockId })),
  },
  {
    does: 'does not clear a field',
    caughtBy: 'a decision can clear every optional field (L3)',
    breaks: rewriting('change', ({ error }, before) => ({ error: error ?? before?.error })),
  },
  {
    does: 'writes immutable fields',
    caughtBy: 'key, period and creation stay, regardless of what a decision writes (L1)',
    breaks: rewriting('change', (_, __, now) => ({ createdAt: now })),
  },
  {
    does: 'updates the time of a row that it only reads',
    caughtBy: 'a decision that writes nothing leaves the row unchanged (L3)',
    breaks: ({ store }) => ({
      change: (key, decide) => store.change(key, (found) => ({ write: found?.run, ...decide(found) })),
    }),
  },
  {
    does: 'updates the time of a row if only events are written',
    caughtBy: 'a decision can write events alone, and the row stays unchanged (L-54)',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, (found) => {
          const decision = decide(found);
          return decision.events?.length ? { write: found?.run, ...decision } : decision;
        }),
    }),
  },
  {
    does: 'replaces the error of a decision',
    caughtBy: 'the error of a decision is rethrown unchanged, and nothing is written (L3)',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, decide).catch((cause: unknown) => {
          throw new Error('could not be changed', { cause });
        }),
    }),
  },
  {
    does: 'returns its own Date objects',
    caughtBy: 'modifying a returned value changes no row (L3)',
    breaks: ({ runs }) => ({
      find: () => Promise.resolve(runs.rows().map(({ run }) => run)),
    }),
  },
  {
    does: 'overwrites a completion that came in between',
    caughtBy: 'a simultaneous completion and change do not overwrite each other (L-21)',
    breaks: deciding(async () => await Promise.resolve()),
  },
  {
    does: 'loses the events of a decision',
    caughtBy: 'the events of a decision are written in order, at the store’s now (L-52)',
    breaks: rewritingEvents('change', (_, before) => before),
  },
  {
    does: 'overwrites existing events',
    caughtBy: 'new events do not replace earlier ones, and events are returned oldest first (L-52)',
    breaks: rewritingEvents('change', (events, before) =>
      events.length > before.length ? events.slice(before.length) : events,
    ),
  },
  {
    does: 'keeps one event of each kind',
    caughtBy: 'the events of simultaneous changes are all kept (L-52)',
    breaks: rewritingEvents('change', (events) =>
      events.filter(({ kind }, i) => events.findIndex((event) => event.kind === kind) === i),
    ),
  },
  {
    does: 'truncates the texts of an event to 255 bytes',
    caughtBy: 'the longest actor, detail and token of an event are returned whole (L-56)',
    breaks: rewritingEvents('change', (events) =>
      events.map((event) => ({ ...event, actor: event.actor.slice(0, 64) })),
    ),
  },
  {
    does: 'loses texts with four-byte characters',
    caughtBy: 'the longest texts are returned whole, also four-byte characters (L-56)',
    breaks: rewriting('change', ({ error }) => ({
      error: error?.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'),
    })),
  },
  {
    does: 'treats backslashes as escapes',
    caughtBy: 'texts with SQL or template syntax are returned unchanged (L-56)',
    breaks: rewriting('change', ({ error }) => ({ error: error?.replaceAll('\\', '') })),
  },
  {
    does: 'treats an empty text as missing',
    caughtBy: 'an empty text differs from no text (L-56)',
    breaks: rewriting('change', ({ error }) => ({ error: error === '' ? undefined : error })),
  },
];

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
