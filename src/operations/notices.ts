import { InvalidLockConfigurationError, type CronlatchEvents } from '../core';
import { withinLimit } from '../core/clock';
import { DAY_MS, parseDuration } from '../core/duration';
import { readHold } from '../core/lease/hold-owner';
import { newOwner } from '../core/lease/owner';
import { LastingFailure } from '../core/lasting-failure';
import { NOTICES_JOB } from '../core/lock-name';
import { withoutAddresses } from '../core/options';
import { commandOf, commandText, remedyFor } from '../ledger/operator/remedy';
import { firstLines } from '../ledger/operator/state-of-run';
import { idOf, isActDue } from '../ledger/operator/request-run';
import type { ActStore, StoredAct } from '../ledger/act-store';
import { limitOf, type LedgerContext } from '../ledger/store-statements';
import { storedError } from '../ledger/tick/stored-text';
import type { GuardLocks, JobGuardOptions } from '../guard';
import type { Calls } from '../guard/calls/calls';
import { problemOf, type JobRemark } from './remarks';
import type { KnownJobs } from './job-catalog';
import { readOverview, type Overview } from './overview';
import type { Notice, Notify } from '../guard/notices/webhook';
import type { Service } from '../guard/upkeep/upkeep';

const LIMIT_MS = 10_000;
/** Of the lock, and of a notice that is being sent. Longer than a sender needs: one that lets it pass has crashed. */
const LEASE_MS = 60_000;
/** The lock is kept after a poll, so that instances whose polls differ do not all read the overview. */
const KEPT_SHARE = 0.75;
const RETRIES = 3;
const RETRY_AFTER_MS = 30_000;
const MOST_AT_A_CHECK = 20;
const EXPIRES_IN_MS = 7 * DAY_MS;

/** As it waits in the table. A notice about a pause is due at its end. */
type StoredNotice = Notice & {
  readonly hold?: { readonly lock: string; readonly owner: string; readonly until: number };
};

export function noticesOf(
  calls: Calls,
  locks: GuardLocks,
  options: JobGuardOptions,
  lateAfterMs: number,
): Service {
  return new Notices(calls.requireOncePerRunner('notify needs'), locks, options, lateAfterMs);
}

/**
 * Notices of one guard. They wait in a table, so that each is sent although the instance that noticed it
 * crashes. The instance that has the lock reads the overview and sends. Another one sends at once after a failure of its own.
 */
class Notices implements Service {
  readonly failure = 'Could not store or read notices. The guard will try again at the next poll.';
  private readonly context: LedgerContext;
  readonly #targets: readonly Notify[];
  readonly #notices: ActStore;
  readonly #keptMs: number;
  readonly #closing = new AbortController();
  /** Of runs that have failed here. An overview has only the newest run of a job, so it can lack them. */
  readonly #failed = new Set<StoredNotice>();
  /** Notices of these failures are stored, and sent without the lock: a conditional write takes each. */
  #hasNew = false;
  /** The ids of problems that last, whose notices are stored. */
  #stored: ReadonlySet<string> = new Set();
  #storing = Promise.resolve();
  #checking: Promise<void> | undefined;
  readonly #lastingFailure: LastingFailure;

  /**
   * @param lateAfterMs how long a scheduled time may have passed before its job is late
   * @throws InvalidLockConfigurationError for an invalid `notify`, and for a store that cannot keep notices
   */
  constructor(
    private readonly jobs: KnownJobs,
    private readonly locks: GuardLocks,
    { notify, pollInterval = '1m' }: JobGuardOptions,
    private readonly lateAfterMs: number | undefined,
  ) {
    const { store, events } = (this.context = jobs.context);
    this.#targets = [notify ?? []].flat();
    if (this.#targets.some((target) => typeof target !== 'function') || store.notices === undefined)
      throw new InvalidLockConfigurationError(
        'notify must be a function, such as webhook({ url, secret }), or an array of them. It needs a guard with a database.',
      );
    this.#notices = store.notices;
    const pollMs = pollInterval === false ? 0 : parseDuration(pollInterval, 'pollInterval');
    this.#keptMs = KEPT_SHARE * Math.min(pollMs, LEASE_MS);
    this.#lastingFailure = new LastingFailure(events);
    events.on('run:failed', (event) => this.#onFailed(event));
  }

  /** Stores the notices of runs that have failed here, and, if it gets the lock, those of others, and sends. Never rejects. */
  async run(): Promise<void> {
    this.#storing = this.#storing.then(() => this.#attempt(() => this.#storeFailed()));
    this.#checking ??= this.#storing
      .then(() => this.#attempt(() => this.#check()))
      .finally(() => (this.#checking = undefined));
    await Promise.all([this.#storing, this.#checking]);
  }

  /** Another instance, or the next start, sends what is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.run();
  }

  #onFailed({ run, isFinal, error }: CronlatchEvents['run:failed']): void {
    if (run === undefined || !isFinal) return;
    const failed = { ...run, state: 'failed', finishedAt: new Date(this.context.clock.wallMs()) } as const;
    for (const remark of problemOf({ ...failed, error: storedError(error) }))
      for (const notice of noticeOf(run.job, remark)) this.#failed.add(notice);
    void this.run();
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    await act().catch((error: unknown) => this.#lastingFailure.report(this.failure, error));
  }

  async #storeFailed(): Promise<void> {
    for (const notice of this.#failed) {
      await this.#store(notice);
      this.#failed.delete(notice);
      this.#hasNew = true;
    }
  }

  async #check(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { lockProvider, events, instance } = this.context;
    const times = { lockAtMostFor: LEASE_MS, lockAtLeastFor: this.#keptMs, keepAlive: true };
    const observer = { warning: events.warn.bind(events), instance };
    const lock = await lockProvider.lock({ name: NOTICES_JOB, ...times }, observer);
    if (lock === undefined) return this.#hasNew ? await this.#sendDue() : undefined; // Another instance has it.
    try {
      const overview = await readOverview(this.jobs, this.locks, { lateAfter: this.lateAfterMs });
      const notices = noticesAbout(overview);
      for (const notice of notices) if (!this.#stored.has(notice.id)) await this.#store(notice, overview.now);
      this.#stored = new Set(notices.map(({ id }) => id));
      await this.#sendDue();
      this.#lastingFailure.end();
    } finally {
      await lock.unlock();
    }
  }

  /** Each target has a row. If another instance has stored it, or it was sent before, nothing is written. */
  async #store(notice: StoredNotice, now = new Date()): Promise<void> {
    const { id, job, hold } = notice;
    const dueInMs = Math.max(0, (hold?.until ?? 0) - now.getTime());
    const times = { dueInMs, expiresInMs: dueInMs + EXPIRES_IN_MS };
    const row = { ...times, verb: 'notice', job, state: 'open', reason: notice.kind } as const;
    const more = { actor: this.context.instance, detail: JSON.stringify(notice) };
    for (const target of this.#targets.keys()) {
      const key = `${id}.${target}`;
      await this.#notices.add({ ...row, ...more, id: key, openKey: key }, limitOf(this.context));
    }
  }

  async #sendDue(): Promise<void> {
    this.#hasNew = false;
    const { now, acts } = await this.#notices.pending('notice', limitOf(this.context));
    const due = acts.filter((notice) => isActDue(notice, now));
    const sent = await Promise.allSettled(due.slice(0, MOST_AT_A_CHECK).map((notice) => this.#send(notice)));
    for (const end of sent) if (end.status === 'rejected') throw end.reason;
  }

  /** Takes it before the call, so that an outcome that cannot be written does not repeat the call at each poll. */
  async #send({ id, job, tries, detail = '{}' }: StoredAct): Promise<void> {
    const [limit, owner] = [limitOf(this.context), newOwner(this.context.instance)];
    const target = this.#targets[Number(id.split('.')[1])];
    if (target === undefined || !(await this.#notices.take(id, { owner, leaseMs: LEASE_MS }, limit))) return;
    const { hold, ...notice } = JSON.parse(detail) as StoredNotice;
    const isDropped = hold !== undefined && (await this.#hasEndedEarly(hold));
    const outcome = isDropped ? undefined : await this.#call(target, notice);
    const isClosing = this.#closing.signal.aborted;
    const willRetry = outcome !== undefined && (tries < RETRIES || isClosing);
    const message = `A notice about job '${job}' was not sent, after ${RETRIES + 1} attempts: ${outcome}`;
    if (outcome !== undefined && !willRetry) this.context.events.warn(message);
    const ended = outcome !== undefined ? 'failed' : isDropped ? 'withdrawn' : 'done';
    const afterMs = isClosing ? 0 : RETRY_AFTER_MS;
    const change = { state: willRetry ? 'open' : ended, afterMs, outcome } as const;
    await this.#notices.change(id, owner, change, limit);
  }

  /** @returns why it was not sent */
  async #call(target: Notify, notice: Notice): Promise<string | undefined> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, this.#closing.signal]);
    try {
      const sending = Promise.resolve().then(async () => void (await target(notice, signal)));
      const isLate = (await withinLimit(this.context.clock, sending, LIMIT_MS)) === 'time-out';
      return isLate ? `It took longer than ${LIMIT_MS / 1000} s.` : undefined;
    } catch (error) {
      return firstLines(withoutAddresses(error instanceof Error ? error.message : String(error)));
    } finally {
      done.abort();
    }
  }

  /** Whether an operator has ended the pause before its time. */
  async #hasEndedEarly({ lock, owner, until }: NonNullable<StoredNotice['hold']>): Promise<boolean> {
    const { lockedBy = '', lockedAt, lockUntil } = (await this.locks.inspect(lock)) ?? {};
    return Number(lockedBy.startsWith(owner) ? lockUntil : lockedAt) < until;
  }
}

function noticesAbout({ jobs, locks = [] }: Overview): StoredNotice[] {
  const problems = jobs.flatMap(({ job, problems }) => problems.flatMap((remark) => noticeOf(job, remark)));
  const held = [...jobs, ...locks.map((lock) => ({ job: lock.name, lock }))];
  const holds = held.flatMap(({ job, lock }) => {
    const hold = lock && readHold(lock.lockedBy);
    if (lock === undefined || hold === undefined) return [];
    const { name, lockedBy: owner, lockUntil } = lock;
    const text = `The pause of lock '${name}' by ${hold.actor} has ended: ${hold.reason}. Its jobs start again.`;
    const notices = noticeOf(job, { kind: 'pause-ended', id: idOf(name, owner), text });
    return notices.map((notice) => ({ ...notice, hold: { lock: name, owner, until: lockUntil.getTime() } }));
  });
  return [...problems, ...holds];
}

/** Only of a problem with an id. */
function noticeOf(
  job: string,
  {
    kind,
    id,
    text,
    remedy = remedyFor('why', { job }),
  }: Pick<JobRemark, 'id' | 'text' | 'remedy'> & { readonly kind: string },
): Notice[] {
  const [command, typed] = [commandOf(remedy), `${text}\n${commandText(remedy)}`];
  const at = new Date().toISOString();
  return id === undefined ? [] : [{ id, kind: kind as Notice['kind'], job, text: typed, command, at }];
}
