import type { Run } from '#cronlatch/ledger/run';
import { rewriting, rewritingEvents, type Bench, type BrokenRunStore } from './broken-run-store';

export const BROKEN_CHANGES: readonly BrokenRunStore[] = [
  {
    does: 'creates a row if a decision finds none',
    caughtBy: 'L3 without a row, the decision gets none, and nothing is written',
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
    caughtBy: 'L3 50 simultaneous changes lose no update',
    breaks: deciding(async () => await Promise.resolve()),
  },
  {
    does: 'calls a decision twice',
    caughtBy: 'L-01 of 32 simultaneous claims of a pending run, one wins',
    breaks: ({ store }) => ({
      change: (key, decide) => store.change(key, decide).then(() => store.change(key, decide)),
    }),
  },
  {
    does: 'passes its own last write to a decision',
    caughtBy: 'L3 a decision gets the last committed row, regardless of which instance wrote it',
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
    caughtBy: 'L3 simultaneous changes of ten runs each change their own run',
    breaks: ({ store, runs }) => ({
      change: (key, decide) => store.change(runs.rows()[0]?.run ?? key, decide),
    }),
  },
  {
    does: 'changes every run of the period',
    caughtBy: 'L3 a change of one run leaves all others unchanged',
    breaks: rewritingOthers('change', (run, key) => run.periodKey === key.periodKey && { attempt: 99 }),
  },
  {
    does: 'passes the time of the row to a decision',
    caughtBy: 'L3 a decision gets the current row and the store’s now, and its value is returned',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, (found) => decide(found && { ...found, now: found.run.updatedAt })),
    }),
  },
  {
    does: 'does not write one of the fields',
    caughtBy: 'L3 a decision can write every mutable field, and the other instance sees it',
    breaks: rewriting('change', (_, before) => ({ lockId: before?.lockId })),
  },
  {
    does: 'does not clear a field',
    caughtBy: 'L3 a decision can clear every optional field',
    breaks: rewriting('change', ({ error }, before) => ({ error: error ?? before?.error })),
  },
  {
    does: 'writes immutable fields',
    caughtBy: 'L1 key, period and creation stay, regardless of what a decision writes',
    breaks: rewriting('change', (_, __, now) => ({ createdAt: now })),
  },
  {
    does: 'updates the time of a row that it only reads',
    caughtBy: 'L3 a decision that writes nothing leaves the row unchanged',
    breaks: ({ store }) => ({
      change: (key, decide) => store.change(key, (found) => ({ write: found?.run, ...decide(found) })),
    }),
  },
  {
    does: 'updates the time of a row if only events are written',
    caughtBy: 'L-54 a decision can write events alone, and the row stays unchanged',
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
    caughtBy: 'L3 the error of a decision is rethrown unchanged, and nothing is written',
    breaks: ({ store }) => ({
      change: (key, decide) =>
        store.change(key, decide).catch((cause: unknown) => {
          throw new Error('could not be changed', { cause });
        }),
    }),
  },
  {
    does: 'returns its own Date objects',
    caughtBy: 'L3 modifying a returned value changes no row',
    breaks: ({ runs }) => ({
      find: () => Promise.resolve(runs.rows().map(({ run }) => run)),
    }),
  },
  {
    does: 'overwrites a completion that came in between',
    caughtBy: 'L-21 a simultaneous completion and change do not overwrite each other',
    breaks: deciding(async () => await Promise.resolve()),
  },
  {
    does: 'loses the events of a decision',
    caughtBy: 'L-52 the events of a decision are written in order, at the store’s now',
    breaks: rewritingEvents('change', (_, before) => before),
  },
  {
    does: 'overwrites existing events',
    caughtBy: 'L-52 new events do not replace earlier ones, and events are returned oldest first',
    breaks: rewritingEvents('change', (events, before) =>
      events.length > before.length ? events.slice(before.length) : events,
    ),
  },
  {
    does: 'keeps one event of each kind',
    caughtBy: 'L-52 the events of simultaneous changes are all kept',
    breaks: rewritingEvents('change', (events) =>
      events.filter(({ kind }, i) => events.findIndex((event) => event.kind === kind) === i),
    ),
  },
  {
    does: 'truncates the texts of an event to 255 bytes',
    caughtBy: 'L-56 the longest actor, detail and token of an event are returned whole',
    breaks: rewritingEvents('change', (events) =>
      events.map((event) => ({ ...event, actor: event.actor.slice(0, 64) })),
    ),
  },
  {
    does: 'loses texts with four-byte characters',
    caughtBy: 'L-56 the longest texts are returned whole, also four-byte characters',
    breaks: rewriting('change', ({ error }) => ({
      error: error?.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'),
    })),
  },
  {
    does: 'treats backslashes as escapes',
    caughtBy: 'L-56 texts with SQL or template syntax are returned unchanged',
    breaks: rewriting('change', ({ error }) => ({ error: error?.replaceAll('\\', '') })),
  },
  {
    does: 'treats an empty text as missing',
    caughtBy: 'L-56 an empty text differs from no text',
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
