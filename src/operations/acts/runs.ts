import { setTimeout as delay } from 'node:timers/promises';
import { InvalidLockConfigurationError, LockStorageError, noneAfter } from '../../core';
import { instanceOf } from '../../core/lease/owner';
import type { Run, StoredAct } from '../../ledger';
import { addRuns, periodsToAdd } from '../../ledger/operator/backfill';
import {
  ConflictError,
  decideRerun,
  decideResolve,
  decideSkip,
  type ActVerdict,
  type OperatorAct,
} from '../../ledger/operator/decide-act';
import { checkRequest, findRequest, requestRun } from '../../ledger/operator/request-run';
import { stateOfRun } from '../../ledger/operator/state-of-run';
import { dateOf, dayOf } from '../../ledger/periods/business-date';
import { periodOfKey } from '../../ledger/periods/period-of-key';
import { calendarPeriodsOf, fixedScopeOf } from '../../ledger/policy/job-policy';
import { checkInstant, describeRun, newRunOf, type RunKey } from '../../ledger/run';
import { runEventOf, type Decision, type FoundRun } from '../../ledger/run-store';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import type { JobCatalog } from '../job-catalog';
import { countText, stateOfAct } from '../state-texts';
import {
  field,
  optionalText,
  SCOPE,
  textOf,
  type Act,
  type Confirmation,
  type Desk,
  type Plan,
  type Values,
} from './act';

/** After the lease of its taker: by then, a check of another instance has ended a request whose run has ended. */
const LOST_AFTER_MS = 300_000;

const NOT_STOPPED = 'is not stopped, so first make sure that it has ended.';

export const run: Act = {
  verb: 'run',
  of: 'job',
  operands: '<job> [period]',
  summary: 'run a job now, on one of its instances, or add runs of past periods',
  label: 'Run now',
  effect:
    'Asks an instance to run the job at its next check for overdue runs, if the lock is free. With a range, adds a run for each of its business days that has none.',
  done: 'Requested. An instance starts the job at its next check for overdue runs.',
  fields: [
    SCOPE,
    field('period', 'text', '', { label: 'Period', hint: 'the current one if it is empty' }),
    field('from', 'date', 'add runs from this business date', { value: 'date', label: 'From' }),
    field('to', 'date', 'until this one, instead of a run now', { value: 'date', label: 'To' }),
    field('force', 'flag', "add runs before the job's first recorded run, too"),
    field('within', 'text', 'how long the request waits for an instance that can start the job', {
      value: 'duration',
      default: '1h',
    }),
    field('wait', 'flag', 'wait for the end of the run, and exit as exec does'),
  ],
  page: 'job',
  async plan(desk, values) {
    const isRange = values['from'] !== undefined || values['to'] !== undefined;
    if (!isRange && values['force'])
      throw new InvalidLockConfigurationError('force is only for a range: add from and to.');
    if (isRange && values['wait'])
      throw new InvalidLockConfigurationError('wait is only for a run now: leave out from and to.');
    return await (isRange ? planRange : planRequest)(desk, values);
  },
};

async function planRequest(desk: Desk, values: Values): Promise<Plan> {
  const [job, scope, period] = [
    textOf(values, 'job'),
    ...['scope', 'period'].map((name) => optionalText(values, name)),
  ];
  const within = optionalText(values, 'within') ?? '1h';
  const jobs = await desk.jobs();
  await jobs.check(job);
  const named = period === undefined ? undefined : (await jobs.runName(job, period, scope)).periodKey;
  const asked = { ...desk.by, periodKey: named, scope, within };
  const { periodKey } = await checkRequest(jobs.context, job, asked);
  const which = periodKey === undefined ? '' : ` for ${periodKey}`;
  return {
    lines: [`An instance starts job ${job}${which} at its next check for overdue runs, if the lock is free.`],
    async perform() {
      const request = await requestRun(jobs.context, job, asked);
      const text = `Requested. The request expires in ${within}.`;
      const act = request.id;
      if (values['wait'] !== true) return { text, act, facts: { request } };
      desk.note?.(text);
      const ended = await endOf(jobs.context, request);
      const by = ended.takenBy === undefined ? '' : ` on ${instanceOf(ended.takenBy)}`;
      return {
        text: `Job ${job}${by}: ${stateOfAct(ended, new Date(jobs.context.clock.wallMs()))}.`,
        act,
        facts: { request: ended },
        ended,
      };
    },
  };
}

async function endOf(context: LedgerContext, given: StoredAct): Promise<StoredAct> {
  let request = given;
  // On this host's clock, with time for the last check.
  const isWaiting = ({ endedAt, state, expiresAt, leaseUntil = expiresAt }: StoredAct): boolean => {
    const endsMs = state === 'taken' ? leaseUntil.getTime() + LOST_AFTER_MS : expiresAt.getTime() + 5000;
    return endedAt === undefined && context.clock.wallMs() < endsMs;
  };
  while (isWaiting(request)) {
    await delay(1000);
    request = (await findRequest(context, request).catch(noneAfter(LockStorageError))) ?? request;
  }
  return request;
}

async function planRange(desk: Desk, values: Values): Promise<Plan> {
  const job = textOf(values, 'job');
  if (values['period'] !== undefined)
    throw new InvalidLockConfigurationError('Name either a period, or a range with from and to.');
  const [from = '', to = ''] = ['from', 'to'].map((name) => dateOf(dayOf(textOf(values, name), name)));
  const known = await desk.jobs();
  const [context, jobs] = [known.context, known.periodicJob(job)];
  const scope = optionalText(values, 'scope') ?? fixedScopeOf(jobs.policy);
  const range = { from, to, scope, force: values['force'] === true };
  const periods = await periodsToAdd(context, jobs, range);
  const items = periods.map(({ key }) => key);
  const text = `This adds ${countText(items.length, 'run')}:`;
  return {
    lines: [`add a run of ${job} for each business day from ${from} to ${to} that has none`],
    confirm: { text, items, value: items.join(' ') },
    about: { job, scope },
    nothing: items.length === 0 ? `No business day from ${from} to ${to} lacks a run.` : undefined,
    async perform() {
      const added = await addRuns(context, jobs.policy, { periods, scope, act: desk.by });
      return { text: `Added ${added.map(({ key }) => key).join(', ')}.`, facts: { job, scope, added } };
    },
  };
}

export const rerun: Act = {
  verb: 'rerun',
  of: 'run',
  operands: '<job> [period]',
  summary: 'run a period again that has failed, was interrupted or skipped',
  label: 'Run it again',
  effect:
    'Runs this period again, as soon as an instance checks for overdue runs. It becomes a new generation, with a new idempotency key.',
  done: 'Done: the run is due at once.',
  fields: [SCOPE, field('force', 'flag', 'also a run that has completed or is running')],
  async plan(desk, values) {
    const force = values['force'] === true;
    return await planChange(desk, values, {
      verb: 'rerun',
      decide: (found) => decideRerun(found, { ...desk.by, force }),
      lines: ['It runs again as soon as an instance checks for overdue runs.'],
      confirm: ({ state, claimedBy = '' }) => {
        if (state === 'completed')
          return { text: 'It has completed, and its work will be done a second time.', value: state };
        const text = `${instanceOf(claimedBy)} still runs it. That run can no longer complete, but it ${NOT_STOPPED}`;
        return state === 'running' ? { text, value: state } : undefined;
      },
    });
  },
};

export const resolve: Act = {
  verb: 'resolve',
  of: 'run',
  operands: '<job> <period>',
  summary: 'record the outcome of a run that was interrupted',
  label: 'Record the outcome',
  effect:
    'Its holder has not come back, but may still be running it: look there first. Pending: it runs again, if it has an attempt left.',
  done: 'Done.',
  fields: [
    SCOPE,
    field('as', 'choice', 'the outcome; pending: run it again', {
      value: 'outcome',
      label: 'Outcome',
      required: true,
      choices: ['completed', 'failed', 'pending'],
    }),
  ],
  async plan(desk, values) {
    const as = values['as'] as 'completed' | 'failed' | 'pending';
    return await planChange(desk, values, {
      verb: 'resolve',
      decide: (found) => decideResolve(found, { ...desk.by, as }),
      lines: [as === 'pending' ? 'It runs again, if it has an attempt left.' : `It counts as ${as}.`],
      confirm: ({ claimedBy = 'Its last holder' }) => {
        const text = `${instanceOf(claimedBy)} may still be running it, and ${NOT_STOPPED}`;
        return as === 'pending' ? { text, value: claimedBy } : undefined;
      },
    });
  },
};

export const skip: Act = {
  verb: 'skip',
  of: 'run',
  operands: '<job> <period>',
  summary: 'record that a period has no run',
  label: 'Skip',
  effect: 'Records that this period has no run, so that no instance runs it.',
  done: 'Done: no instance runs this period.',
  fields: [SCOPE],
  plan: async (desk, values) =>
    await planChange(
      desk,
      { ...values, period: textOf(values, 'period') },
      {
        verb: 'skip',
        decide: (found) => decideSkip(found, desk.by),
        lines: ['No instance will run it.'],
        insert: async (jobs, name) => await insertSkipped(jobs, name, desk.by),
      },
    ),
};

interface Change {
  readonly verb: 'rerun' | 'resolve' | 'skip';
  /** As the transaction of the change decides it. */
  readonly decide: (found: FoundRun | undefined) => Decision<ActVerdict>;
  readonly lines: readonly string[];
  readonly confirm?: (before: Run) => Confirmation | undefined;
  /** Of a period that can be without a run. @returns `false` if there is a run */
  readonly insert?: (jobs: JobCatalog, name: RunKey) => Promise<boolean>;
}

async function planChange(desk: Desk, values: Values, change: Change): Promise<Plan> {
  const job = textOf(values, 'job');
  const jobs = await desk.jobs();
  await jobs.check(job);
  const period = (change.insert ? textOf : optionalText)(values, 'period');
  const name = await jobs.runName(job, period, optionalText(values, 'scope'));
  const before = await jobs.ledger.get(name);
  if (before !== undefined || change.insert === undefined)
    checkVerdict(change.decide(before && { run: before, now: jobs.now }).value, change.verb, name);
  const sentence = (run: Run | undefined): string => {
    const of = { timeZone: run?.timeZone ?? 'UTC', now: jobs.now };
    const when = (instant: Date | undefined): string => (instant ? desk.when(instant, of) : 'at -');
    return run === undefined ? 'has not run yet' : stateOfRun(run, { when }).sentence;
  };
  // Not a run that the operator has not seen.
  const decide = (found: FoundRun | undefined): Decision<ActVerdict> =>
    before && found && (found.run.state !== before.state || found.run.generation !== before.generation)
      ? { value: { kind: 'refused', from: found.run.state } }
      : change.decide(found);
  return {
    lines: [`${describeRun(name)} ${sentence(before)}`, ...change.lines],
    confirm: before && change.confirm?.(before),
    about: { ...name, before: before && stateBefore(before) },
    async perform() {
      const { context, ledger } = jobs;
      if (!(await change.insert?.(jobs, name)))
        checkVerdict(await context.store.change(name, decide, limitOf(context)), change.verb, name);
      const run = await ledger.get(name);
      return { text: `Done. It ${sentence(run)}.`, facts: { run, before } };
    },
  };
}

function stateBefore({ state, generation, attempt, claimedBy }: Run): object {
  return { state, generation, attempt, claimedBy };
}

async function insertSkipped(jobs: JobCatalog, name: RunKey, act: OperatorAct): Promise<boolean> {
  const policy = jobs.policyOf(name.job);
  const periods = policy && calendarPeriodsOf(policy);
  const period = periods && periodOfKey(name.periodKey, periods);
  checkInstant(period?.start, `The start of ${describeRun(name)}`);
  const run = newRunOf(name, { ...period, key: name.periodKey }, periods?.timeZone);
  const event = runEventOf({}, 'skipped', act.reason, act.actor);
  const skipped = { ...run, state: 'skipped', reason: 'operator', event } as const;
  return await jobs.context.store.insert(skipped, limitOf(jobs.context));
}

const REMEDIES = {
  resolve: () => 'Only an interrupted run can be resolved.',
  skip: () => 'A run that is running, completed or skipped cannot be skipped.',
  rerun: (from: string) => {
    if (from === 'absent') return 'To add runs of past days: cronlatch run JOB --from DATE --to DATE.';
    return from === 'completed' || from === 'running' ? 'To rerun it anyway, pass force: true.' : '';
  },
};

/** @throws ConflictError if the change was refused */
function checkVerdict(verdict: ActVerdict, verb: Change['verb'], name: RunKey): void {
  if (verdict.kind === 'changed') return;
  const { from } = verdict;
  const why = from === 'absent' ? 'no such run exists' : `it is ${from}`;
  const remedy = REMEDIES[verb](from);
  throw new ConflictError(`Cannot ${verb} ${describeRun(name)}: ${why}.${remedy && ` ${remedy}`}`);
}
