import {
  nextAfterRegistration,
  type JobRegistration,
  type RegisteredJob,
} from '#cronlatch/ledger/job-register';
import type { RunStore } from '#cronlatch/ledger/run-store';
import type { Bench, BrokenRunStore } from './broken-run-store';
import type { Mutants } from '../contract-mutants/overlay';

/** A register that lists changed jobs. */
function listing(change: (jobs: readonly RegisteredJob[], now: Date) => readonly RegisteredJob[]) {
  return ({ store }: Bench): Partial<RunStore> => ({
    async jobs() {
      const { now, jobs } = await store.jobs();
      return { now, jobs: change(jobs, now) };
    },
  });
}

/** A register whose jobs are listed with other values. */
function showing(change: (job: RegisteredJob, now: Date) => Partial<RegisteredJob>) {
  return listing((jobs, now) => jobs.map((job) => ({ ...job, ...change(job, now) })));
}

/** A register that decides the next scheduled time in another way. */
function scheduling(
  decide: (stored: RegisteredJob | undefined, job: JobRegistration, now: Date) => Date | undefined,
) {
  return ({ store, runs }: Bench): Partial<RunStore> => ({
    async registerJobs(registrations) {
      for (const registration of registrations) {
        const stored = (await store.jobs()).jobs.find(({ job }) => job === registration.job);
        const next = decide(stored, registration, runs.now());
        await store.registerJobs([registration]);
        const answeredAt = new Date(8e15);
        const changed = { job: registration.job, answeredAt, nextScheduledAt: next };
        await store.updateJobs([changed]);
      }
    },
  });
}

/** Registers each job in another form. */
function registering(
  change: (job: JobRegistration, stored: RegisteredJob | undefined) => JobRegistration | undefined,
) {
  return ({ store }: Bench): Partial<RunStore> => ({
    async registerJobs(registrations) {
      const { jobs } = await store.jobs();
      const changed = registrations.flatMap(
        (each) =>
          change(
            each,
            jobs.find(({ job }) => job === each.job),
          ) ?? [],
      );
      await store.registerJobs(changed);
    },
  });
}

const AGAIN = 'a job that is registered again is listed once, with its last declaration (L7)';
const STAYS = 'a scheduled time that has passed stays after a restart, and one that was unknown is set (L7)';
const REPLACED = 'the scheduled time of another schedule, or of a wrong clock, is replaced (L7)';
const FORGOTTEN = 'only a job that was not registered lately is forgotten, by its exact name (L7)';

export const BROKEN_REGISTERS: Mutants<BrokenRunStore> = {
  'an empty register lists no job, at the store’s now (L7)': {
    'lists its jobs at the time of a host whose clock is ahead': ({ store }) => ({
      jobs: async () => ({ ...(await store.jobs()), now: new Date(Date.now() + 3_600_000) }),
    }),
  },
  'another instance sees a registered job with all that it declares (L7)': {
    'keeps only one schedule of a job': showing(({ declared: { timeZone, ...declared } }) => ({
      declared: { ...declared, timeZone: timeZone && 'UTC' },
    })),
  },
  'several jobs are registered at once, and listed in the order of their names (L7)': {
    'registers only the first of several jobs': ({ store }) => ({
      registerJobs: (jobs) => store.registerJobs(jobs.slice(0, 1)),
    }),
  },
  [AGAIN]: {
    'registers a job only once': registering((job, stored) => (stored === undefined ? job : undefined)),
    'keeps the first declaration of a job': registering((job, stored) => ({
      ...job,
      declared: stored?.declared ?? job.declared,
    })),
  },
  [STAYS]: {
    'overwrites a scheduled time that has passed': scheduling((_, { nextScheduledAt }) => nextScheduledAt),
    'never sets a scheduled time that was unknown': scheduling((stored, job, now) =>
      stored !== undefined && stored.nextScheduledAt === undefined
        ? undefined
        : nextAfterRegistration(stored, job, now),
    ),
  },
  [REPLACED]: {
    'keeps the scheduled time of another schedule': scheduling(
      (stored, { nextScheduledAt }) => stored?.nextScheduledAt ?? nextScheduledAt,
    ),
    'never replaces a scheduled time that is too late': scheduling((stored, job, now) => {
      const next = nextAfterRegistration(stored, job, now);
      return stored?.nextScheduledAt && next && next < stored.nextScheduledAt ? stored.nextScheduledAt : next;
    }),
  },
  'an answered tick moves the scheduled time on, and a late answer does not (L7)': {
    'moves a scheduled time back after a late answer': ({ store }) => ({
      updateJobs: (changes) =>
        store.updateJobs(changes.map((each) => ({ ...each, answeredAt: new Date(8e15) }))),
    }),
  },
  'several jobs are changed at once, and an unknown one is not created (L7)': {
    'changes only the first of several jobs': ({ store }) => ({
      updateJobs: (changes) => store.updateJobs(changes.slice(0, 1)),
    }),
  },
  [FORGOTTEN]: {
    'forgets a job that an instance has just registered': ({ store }) => ({
      forgetJob: (job) => store.forgetJob(job, -1),
    }),
    'forgets no job': () => ({ forgetJob: () => Promise.resolve(false) }),
    'forgets a job whose name is written otherwise': ({ store }) => ({
      async forgetJob(job, idleMs) {
        const { jobs } = await store.jobs();
        const names = jobs.map((each) => each.job).filter((each) => each.toLowerCase() === job.toLowerCase());
        const forgotten = await Promise.all(names.map((name) => store.forgetJob(name, idleMs)));
        return forgotten.includes(true);
      },
    }),
  },
  'instances that register the same jobs at once leave one row of each (L7)': {
    'lists a job once for each instance that registered it': listing((jobs) =>
      jobs.flatMap((job) => (job.registeredBy === 'host/1' ? [job] : [job, job])),
    ),
  },
};
