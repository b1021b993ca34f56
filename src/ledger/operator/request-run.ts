import { createHash, randomUUID } from 'node:crypto';
import { InvalidLockUseError } from '../../core';
import { parsePositiveDuration, type Duration } from '../../core/duration';
import { declaredPolicy, knownRegister, whyDisabled, type RegisteredJob } from '../job-register';
import { periodOfKey } from '../periods/period-of-key';
import { calendarPeriodsOf } from '../policy/job-policy';
import { describeRun } from '../run';
import type { ActStore, StoredAct } from '../act-store';
import { limitOf, type LedgerContext } from '../store-statements';
import { ConflictError, type OperatorAct } from './decide-act';
import { checkedScope, checkJob } from './run-name';
import { commandText } from './remedy';
import { stateOfRun, timeText } from './state-of-run';

/** To run a job now. Without a key, it is for the current period. */
interface RunRequest extends OperatorAct {
  readonly periodKey?: string | undefined;
  readonly scope?: string | undefined;
  readonly within: Duration;
}

/** Instances declare their jobs every 2 minutes, at a check for overdue runs. */
const DECLARED_WITHIN_MS = 180_000;
const LONGEST_WAIT_DAYS = 7;

/** @throws ConflictError if no instance would start the job, and for a period that has a run or has not begun */
export async function checkRequest(context: LedgerContext, job: string, { within, ...request }: RunRequest) {
  checkJob(job);
  const expiresInMs = parsePositiveDuration(within, 'within', LONGEST_WAIT_DAYS);
  const read = () => context.store.jobs(limitOf(context));
  const { now, jobs } = (await knownRegister(read())) ?? (await read());
  const registered = checkDeclared(job, jobs, now);
  const scope = scopeOf(registered, request.scope);
  const periodKey = await periodKeyOf(context, registered, { ...request, scope }, now);
  return { job, scope, periodKey, expiresInMs };
}

/** @throws ConflictError as `checkRequest` does, and if an earlier request for this job and scope has not ended */
export async function requestRun(
  context: LedgerContext,
  job: string,
  request: RunRequest,
): Promise<StoredAct> {
  const acts = actsOf(context);
  const checked = await checkRequest(context, job, request);
  const { actor, reason } = request;
  // So a job and scope have one request at a time.
  const openKey = idOf('run', job, checked.scope);
  const added = { ...checked, id: randomUUID(), verb: 'run', openKey, actor, reason, state: 'open' } as const;
  const isNew = await acts.add(added, limitOf(context));
  const stored = await findRequest(context, { job, scope: checked.scope, id: isNew ? added.id : undefined });
  if (isNew && stored !== undefined) return stored;
  const by = stored ? `${stored.actor} at ${timeText(stored.at)}: ${stored.reason}` : 'another operator';
  throw refusal(job, `it was requested by ${by}. That request has not ended`);
}

/** A request of this job and scope: by its id, or else the newest one, also if it has ended. One that has expired stays `open`. */
export async function findRequest(
  context: LedgerContext,
  { job, scope, id }: Pick<StoredAct, 'job' | 'scope'> & { readonly id: string | undefined },
): Promise<StoredAct | undefined> {
  const found = await actsOf(context).list({ verb: 'run', job, scope, limit: 100 }, limitOf(context));
  if (id !== undefined) return found.find((act) => act.id === id);
  return found.find(({ endedAt }) => endedAt === undefined) ?? found[0];
}

/** @throws ConflictError for a job that no instance would start */
function checkDeclared(job: string, jobs: readonly RegisteredJob[], now: Date): RegisteredJob {
  const registered = jobs.find((each) => each.job === job);
  if (registered === undefined) throw refusal(job, 'no instance has declared it');
  const { declared, registeredAt, registeredBy } = registered;
  if (now.getTime() - registeredAt.getTime() > DECLARED_WITHIN_MS) {
    const last = `The last was ${registeredBy} at ${timeText(registeredAt)}. Start an instance, and check its pollInterval`;
    throw refusal(job, `no instance has declared it within the last 3 minutes. ${last}`);
  }
  // A guard that is disabled may have registered it after one that is enabled. The request waits.
  const off = registered.declared.disabled === 'job' ? whyDisabled(registered) : undefined;
  if (off !== undefined) throw refusal(job, off);
  if (declared.hasNameFunction) throw refusal(job, 'the name of its lock comes from its arguments');
  return registered;
}

function scopeOf({ job, declared }: RegisteredJob, given: string | undefined): string {
  const scope = checkedScope(given ?? declared.scope);
  if (declared.hasScopeFunction ? scope !== '' : scope === (declared.scope ?? '')) return scope;
  if (declared.hasScopeFunction) throw refusal(job, 'it has scopes. Pass the scope');
  throw refusal(job, declared.scope ? `its scope is '${declared.scope}'` : 'it has no scopes');
}

/** @throws ConflictError for a period that has a run, has not begun, or does not exist */
async function periodKeyOf(
  context: LedgerContext,
  registered: RegisteredJob,
  { periodKey, scope }: { readonly periodKey?: string | undefined; readonly scope: string },
  now: Date,
): Promise<string | undefined> {
  const { job } = registered;
  const policy = declaredPolicy(registered);
  const periods = policy && calendarPeriodsOf(policy);
  if (periods === undefined) {
    if (periodKey === undefined) return undefined;
    const why = policy ? 'it gets a run of its own' : 'only its code knows its periods';
    throw refusal(job, `${why}, so leave out the period ${periodKey}`);
  }
  const current = policy?.periodAt(now);
  const period = periodKey === undefined ? current : periodOfKey(periodKey, periods);
  const name = { job, scope, periodKey: period?.key ?? '' };
  if (period?.start && current?.start && period.start > current.start)
    throw refusal(job, `its period ${period.key} has not begun`);
  const [run] = await context.store.find({ ...name, order: 'newest-first', limit: 1 }, limitOf(context));
  if (run === undefined || run.state === 'pending') return name.periodKey;
  const { sentence, advice = '', remedy } = stateOfRun(run);
  const fix = remedy ? `${advice} ${commandText(remedy)}` : advice;
  throw refusal(job, `${describeRun(run)} ${sentence}. ${fix}`.trim().replace(/\.$/, ''));
}

function actsOf({ store }: LedgerContext): ActStore {
  if (store.acts !== undefined) return store.acts;
  throw new InvalidLockUseError(
    'Cannot request a run in memory. Create the guard with createJobGuard of a driver.',
  );
}

/** Whether an instance may take it: it is open and due, or its taker has let its lease expire. */
export function isActDue({ state, dueAt, leaseUntil }: StoredAct, now: Date): boolean {
  return (state === 'open' ? dueAt : (leaseUntil ?? now)) <= now;
}

/** The same id for the same values. */
export function idOf(...of: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(of)).digest('base64url');
}

function refusal(job: string, why: string): ConflictError {
  return new ConflictError(`Cannot run job '${job}': ${why}.`);
}

/** Who has taken an act, and has not renewed this lease, has crashed. */
export const TAKEN_MS = 120_000;
const RENEW_EVERY_MS = 30_000;

/** Renews the lease of an act. A renewal that fails is repeated at the next one. @returns a function that stops it */
export function keepTaken(context: LedgerContext, id: string, owner: string): () => void {
  const renew = (): void => {
    cancel = renewLater();
    const change = { state: 'taken', afterMs: TAKEN_MS } as const;
    context.store.acts?.change(id, owner, change, limitOf(context)).catch(() => {});
  };
  const renewLater = () => context.clock.schedule(RENEW_EVERY_MS, renew, { keepAlive: false });
  let cancel = renewLater();
  return () => cancel();
}
