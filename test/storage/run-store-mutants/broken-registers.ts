import type { DeclaredJob, JobRegistration, RegisteredJob } from '#cronlatch/ledger/job-register';
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

/** A register for which other changes of a declaration count. */
function declaring(textOf: (declared: DeclaredJob) => unknown) {
  const declarations = new WeakMap<object, Map<string, { readonly text: string; readonly at: Date }>>();
  return ({ store, runs }: Bench): Partial<RunStore> => {
    const known = declarations.get(runs) ?? new Map<string, { readonly text: string; readonly at: Date }>();
    declarations.set(runs, known);
    return {
      async registerJobs(registrations) {
        await store.registerJobs(registrations);
        for (const { job, declared } of registrations) {
          const text = JSON.stringify(textOf(declared));
          if (known.get(job)?.text !== text) known.set(job, { text, at: runs.now() });
        }
      },
      async jobs() {
        const { now, jobs } = await store.jobs();
        return { now, jobs: jobs.map((job) => ({ ...job, declaredAt: known.get(job.job)?.at })) };
      },
    };
  };
}

/** The options that decide when a job is due. */
const WATCHED = ['schedules', 'kind', 'timeZone', 'dayStart', 'target', 'disabled'] as const;

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
const DECLARED = 'a job is declared since its last change of schedule or periods (L7)';
const KEPT = 'a restart, and a change of anything else, keep since when a job is declared (L7)';
const ANSWERED = 'a newer answer is kept, also after a restart, and a late one has no effect (L7)';
const EXACT =
  'several jobs are answered at once, by their exact names, and an unknown one is not created (L7)';
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
  [DECLARED]: Object.fromEntries(
    WATCHED.map((option) => [
      `ignores a change of ${option}`,
      declaring((declared) => WATCHED.filter((each) => each !== option).map((each) => declared[each])),
    ]),
  ),
  [KEPT]: {
    'counts each registration as a new declaration': showing(({ registeredAt }) => ({
      declaredAt: registeredAt,
    })),
    'counts any change as a new declaration': declaring((declared) => declared),
  },
  [ANSWERED]: {
    'keeps only the first answer': ({ store }) => ({
      async answerJobs(answers) {
        const { jobs } = await store.jobs();
        const isFirst = (name: string) => jobs.some(({ job, answeredAt }) => job === name && !answeredAt);
        await store.answerJobs(answers.filter(({ job }) => isFirst(job)));
      },
    }),
    'keeps a late answer': ({ store }) => ({
      async answerJobs(answers) {
        const { jobs } = await store.jobs();
        for (const { job, ...registration } of jobs)
          if (answers.some((each) => each.job === job) && (await store.forgetJob(job, -1)))
            await store.registerJobs([{ ...registration, job }]);
        await store.answerJobs(answers);
      },
    }),
    'forgets the answer when a job is registered again': ({ store }) => ({
      async registerJobs(registrations) {
        for (const { job } of registrations) await store.forgetJob(job, -1);
        await store.registerJobs(registrations);
      },
    }),
  },
  [EXACT]: {
    'answers only the first of several jobs': ({ store }) => ({
      answerJobs: (answers) => store.answerJobs(answers.slice(0, 1)),
    }),
    'answers a job whose name is written otherwise': ({ store }) => ({
      async answerJobs(answers) {
        const { jobs } = await store.jobs();
        const isNamed = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
        await store.answerJobs(
          answers.flatMap((each) =>
            jobs.filter(({ job }) => isNamed(job, each.job)).map(({ job }) => ({ ...each, job })),
          ),
        );
      },
    }),
    'registers an unknown job that is answered': ({ store }) => ({
      async answerJobs(answers) {
        const { jobs } = await store.jobs();
        const unknown = answers.filter((each) => !jobs.some(({ job }) => job === each.job));
        await store.registerJobs(unknown.flatMap(({ job }) => (jobs[0] ? [{ ...jobs[0], job }] : [])));
        await store.answerJobs(answers);
      },
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
