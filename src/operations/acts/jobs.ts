import { parsePositiveDuration } from '../../core/duration';
import { methodOf } from '../../guard/guard-locks';
import { IDLE_AFTER_MS } from '../../ledger/job-register';
import { ConflictError } from '../../ledger/operator/decide-act';
import { LONGEST_KEPT_DAYS, purgeRuns } from '../../ledger/operator/purge-runs';
import { limitOf } from '../../ledger/store-statements';
import { field, textOf, type Act, type Desk, type Plan, type Values } from './act';

export const forget: Act = {
  verb: 'forget',
  of: 'job',
  operands: '<job>',
  summary: 'remove a job that your code no longer has from the register',
  label: 'Forget',
  isDestructive: true,
  effect: 'Removes the job from the register, if your code no longer has it. Its runs and its lock stay.',
  done: 'Forgotten.',
  fields: [],
  page: 'overview',
  plan: planForget,
};

/** An instance that still declares the job would register it again: instances do so every 2 minutes. */
async function planForget(desk: Desk, values: Values): Promise<Plan> {
  const job = textOf(values, 'job');
  const { context } = await desk.jobs();
  const { now, jobs, unreadable = [] } = await context.store.jobs(limitOf(context));
  const registered = jobs.find((each) => each.job === job);
  const stored = registered ?? unreadable.find((each) => each.job === job);
  const refuse = (): never => {
    const why = stored
      ? `${stored.registeredBy} has registered it within the last 15 minutes. Remove the job there, and try again when all instances have stopped or restarted`
      : 'it is not registered';
    throw new ConflictError(`Cannot forget job '${job}': ${why}.`);
  };
  const idleMs = registered ? now.getTime() - registered.registeredAt.getTime() : IDLE_AFTER_MS;
  if (!stored || idleMs < IDLE_AFTER_MS) refuse();
  return {
    about: { job, before: registered?.declared },
    lines: [`remove job ${job} from the register, so that it is never late. Its runs and its lock stay`],
    async perform() {
      if (!(await context.store.forgetJob(job, IDLE_AFTER_MS, limitOf(context)))) refuse();
      return { facts: { forgotten: job } };
    },
  };
}

export const purge: Act = {
  verb: 'purge',
  of: 'store',
  operands: '',
  summary: 'delete runs that ended long ago',
  label: 'Purge',
  effect: 'Deletes runs that ended long ago, with their history.',
  done: 'Deleted.',
  fields: [
    field('olderThan', 'text', 'how long ago, as in 400d', { value: 'duration', required: true }),
    field('locks', 'flag', 'delete records of locks instead, for guards with keepRows: false'),
  ],
  guardOptions: ({ locks }) => (locks ? { keepRows: false } : {}),
  plan: planPurge,
};

async function planPurge(desk: Desk, values: Values): Promise<Plan> {
  const [olderThan, locks] = [textOf(values, 'olderThan'), values['locks'] === true];
  const keptMs = parsePositiveDuration(olderThan, 'olderThan', LONGEST_KEPT_DAYS);
  const { lockProvider, registry } = desk.parts;
  const { context } = locks ? { context: undefined } : await desk.jobs();
  const purgeLocks = locks ? methodOf(lockProvider, 'purge') : undefined;
  const what = locks
    ? `the records of locks that ended more than ${olderThan} ago. Other programs, such as ShedLock for Java, need them`
    : `the runs that ended more than ${olderThan} ago, except for the newest of each job`;
  return {
    about: {},
    lines: [`delete ${what}`],
    async perform() {
      const deleted = context
        ? await purgeRuns(context, Math.max(keptMs, registry.longestWindowMs))
        : await purgeLocks?.(keptMs);
      return { text: `Deleted ${deleted}.`, facts: { deleted, locks } };
    },
  };
}
