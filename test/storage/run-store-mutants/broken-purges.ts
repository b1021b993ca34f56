import type { Run } from '#cronlatch/ledger/run';
import type { Bench, BrokenRunStore } from './broken-run-store';
import type { Mutants } from '../contract-mutants/overlay';

const isOld = ({ updatedAt }: Run, before: Date): boolean => updatedAt < before;
const hasEnded = ({ periodEnd }: Run, before: Date): boolean => periodEnd === undefined || periodEnd < before;
const isOver = ({ state, nextAttemptAt }: Run): boolean =>
  ['completed', 'skipped'].includes(state) || (state === 'failed' && nextAttemptAt === undefined);
const timeOf = ({ periodStart, createdAt }: Run): number => (periodStart ?? createdAt).getTime();

function isNewest(run: Run, among: readonly Run[]): boolean {
  const others = among
    .filter(({ job, scope }) => job === run.job && scope === run.scope)
    .filter(({ periodStart }) => (periodStart === undefined) === (run.periodStart === undefined));
  return others.every((other) => timeOf(other) <= timeOf(run));
}

function isLatest(run: Run, among: readonly Run[]): boolean {
  const others = among.filter(({ job, scope }) => job === run.job && scope === run.scope);
  return others.every((other) => timeOf(other) <= timeOf(run));
}

interface Conditions {
  readonly isOld: (run: Run, before: Date) => boolean;
  readonly hasEnded: (run: Run, before: Date) => boolean;
  readonly isOver: (run: Run) => boolean;
  readonly isNewest: (run: Run, among: readonly Run[]) => boolean;
}

const MARK = { generation: 0, attempt: 0, kind: 'purged', actor: 'mutant' } as const;

/** Marks the first run after each deleted run, as a store should. */
function mark(runs: Bench['runs'], gone: readonly Run[]): void {
  for (const { job, scope, periodStart } of gone) {
    const [next] = runs
      .rows()
      .filter(({ run }) => run.job === job && run.scope === scope)
      .filter(({ run }) => periodStart !== undefined && run.periodStart && run.periodStart > periodStart)
      .sort((a, b) => timeOf(a.run) - timeOf(b.run));
    const isMarked = next?.events.some(({ kind }) => kind === 'purged') ?? true;
    if (!isMarked) next?.events.push({ ...MARK, fencingToken: undefined, detail: undefined, at: runs.now() });
  }
}

/** Deletes as a store should, with some conditions changed. */
function purging(wrong: Partial<Conditions>, marks = mark) {
  const right: Conditions = { isOld, hasEnded, isOver, isNewest };
  const is = { ...right, ...wrong };
  return ({ runs }: Bench): Pick<Bench['store'], 'purge'> => ({
    purge({ olderThanMs, limit }) {
      const before = new Date(runs.now().getTime() - olderThanMs);
      const all = runs.rows().map(({ run }) => run);
      const gone = all
        .filter((run) => is.isOver(run) && is.isOld(run, before) && is.hasEnded(run, before))
        .filter((run) => !is.isNewest(run, all))
        .slice(0, limit);
      for (const run of gone) runs.delete(run);
      marks(runs, gone);
      return Promise.resolve({ deleted: gone.length, next: gone.length < limit ? undefined : 'again' });
    },
  });
}

export const BROKEN_PURGES: Mutants<BrokenRunStore> = {
  'a purge deletes nothing if there is nothing to delete (L-55)': {
    'deletes the newest run as well': purging({ isNewest: () => false, isOld: () => true }),
  },
  'runs before and after an unfinished run are deleted, and their periods do not count as missed (L-55)': {
    'marks only the oldest remaining run': purging({}, (runs, gone) => mark(runs, gone.slice(-1))),
  },
  'purged periods do not count as missed, even if an older run is created afterwards (L-55)': {
    'does not mark what it purged': purging({}, () => {}),
  },
  'each purge moves the purge mark forward (L-55)': {
    'marks only the first purge': purging({}, (runs, gone) => {
      if (!gone.some(({ periodKey }) => periodKey === 'second')) mark(runs, gone);
    }),
  },
  'the newest run with a period stays, even if a run without a period is newer (L-55)': {
    'keeps only the newest run, with or without a period': purging({ isNewest: isLatest }),
  },
  'finished runs are deleted, and unfinished ones never, however old they are (L-55)': {
    'deletes all failed runs': purging({ isOver: (run) => isOver(run) || run.state === 'failed' }),
  },
  'the newest run of each job and scope stays (L-55)': {
    'keeps only the newest run of all jobs': purging({
      isNewest: (run, all) => all.every((other) => timeOf(other) <= timeOf(run)),
    }),
  },
  'the newest custom key, by its creation, stays (L-55)': {
    'takes the newest run by its key': purging({
      isNewest: (run, all) => all.every((other) => other.periodKey <= run.periodKey),
    }),
  },
  'a purge deletes no more runs than its limit, and the next purge continues (L-55)': {
    'ignores the limit': ({ store }) => ({ purge: (request) => store.purge({ ...request, limit: 1000 }) }),
  },
  'unfinished runs do not block the deletion of finished ones (L-55)': {
    'counts undeleted runs against the limit': ({ store, runs }) => ({
      purge({ olderThanMs, limit }) {
        const left = runs.rows().filter(({ run }) => !isOver(run)).length;
        return store
          .purge({ olderThanMs, limit: Math.max(0, limit - left) })
          .then(({ deleted }) => ({ deleted, next: undefined }));
      },
    }),
  },
  'events are deleted with their run, and no others (L-55)': {
    'deletes all events': ({ store, runs }) => ({
      purge(request) {
        for (const { events } of runs.rows()) events.length = 0;
        return store.purge(request);
      },
    }),
  },
  'a run whose period ended recently stays, however long ago it was written (L-55)': {
    'checks only the time of the last write': purging({ hasEnded: () => true }),
  },
  'a run that was written recently stays, however long ago its period ended (L-55)': {
    'checks only the end of the period': purging({ isOld: ({ createdAt }, before) => createdAt < before }),
  },
  'of ticks, so many of each job and scope stay, however old they are, and none counts as missed (L-55)': {
    'keeps too few': ({ store }) => ({ purge: (request) => store.purge({ ...request, keptTicks: 1 }) }),
    'deletes all that are old enough': ({ store }) => ({
      purge: (request) => store.purge({ ...request, keptTicks: undefined }),
    }),
    'marks what it purged': purging({}),
  },
  'a job that no longer runs once per tick keeps the ticks that it had (L-55)': {
    'deletes ticks of any job': purging({}),
  },
  'older runs are deleted even if the newest run is unfinished (L-55)': {
    'keeps the newest finished run': purging({ isNewest: (run, all) => isNewest(run, all.filter(isOver)) }),
  },
};
