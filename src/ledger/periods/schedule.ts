import type * as Croner from 'croner';
import { hostTimeZone } from '../../core/clock';
import { DAY_MS } from '../../core/duration';
import { InvalidLockConfigurationError } from '../../core/errors';
import { describeValue, refuseOption } from '../../core/options';
import { DIALECTS, readExpression, type Dialect } from './schedule-expression';
import { checkTimeZone, offsetStretches } from './time-zone';

export interface DeclaredCron {
  readonly expression: string;
  /** An IANA name, or an offset such as `+05:30`. Default: the time zone of the host. */
  readonly timeZone?: string | undefined;
  /** The scheduler that reads the expression. */
  readonly dialect: Dialect;
}

/**
 * When a job is called: by an expression, `every` so many milliseconds in each process, or once, `at` an ISO instant. 0
 * milliseconds: the application starts the calls later, if at all.
 */
export type DeclaredSchedule = DeclaredCron | { readonly every: number } | { readonly at: string };

/** The time between two ticks of a job without common times, in milliseconds. */
export function intervalOf({
  schedules = [],
}: {
  readonly schedules?: readonly DeclaredSchedule[] | undefined;
}): number | undefined {
  const [every] = schedules.flatMap((each) => ('every' in each && each.every > 0 ? each.every : []));
  return every;
}

interface Times {
  next(after: Date): Date | undefined;
  previous(notAfter: Date): Date | undefined;
}

/** A year of hours. */
const MOST_REMEMBERED = 10_000;

/** The scheduled times of a job: those of all its schedules. */
export class Schedule {
  /** Of an expression that only its scheduler can read: it has no times here. */
  static readonly UNKNOWN = new Schedule([], '');
  readonly #times: readonly Times[];
  /** The first times of past periods, which never change. */
  readonly #known = new Map<string, Date | undefined>();

  /** @throws InvalidLockConfigurationError for an expression that cannot be read or never matches, and for an unknown zone */
  private constructor(declared: readonly (DeclaredCron | { readonly at: string })[], of: string) {
    this.#times = declared.map((each) =>
      'at' in each ? onceAt(new Date(each.at)) : new CronTimes(each, of),
    );
  }

  /**
   * @param of names the job in messages, for example ` of job 'close-day'`
   * @returns `undefined` without a schedule. An interval has no times that all instances share.
   * @throws InvalidLockConfigurationError naming the expression and the field, or the time zone
   */
  static of(declared: readonly DeclaredSchedule[], of = ''): Schedule | undefined {
    const timed = declared.flatMap((each) => ('every' in each ? [] : [each]));
    return declared.length === 0 ? undefined : new Schedule(timed, of);
  }

  /** The first time after an instant. `undefined`: there is none. */
  next(after: Date): Date | undefined {
    return earliestFirst(this.#times.map((times) => times.next(after)))[0];
  }

  /** The last time not after an instant. */
  previous(notAfter: Date): Date | undefined {
    return earliestFirst(this.#times.map((times) => times.previous(notAfter))).at(-1);
  }

  /** The first times after an instant, at most so many. */
  following(after: Date, limit: number): Date[] {
    const times: Date[] = [];
    for (let at = this.next(after); at !== undefined && times.length < limit; at = this.next(at))
      times.push(at);
    return times;
  }

  /** The first time from `start` on, before `end`. */
  firstIn({ start, end }: { readonly start: Date; readonly end: Date }): Date | undefined {
    const id = `${start.getTime()} ${end.getTime()}`;
    if (this.#known.has(id)) return this.#known.get(id);
    const next = this.next(new Date(start.getTime() - 1));
    const first = next !== undefined && next < end ? next : undefined;
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear();
    this.#known.set(id, first);
    return first;
  }
}

function earliestFirst(times: readonly (Date | undefined)[]): Date[] {
  return times.filter((time) => time !== undefined).sort((a, b) => a.getTime() - b.getTime());
}

function onceAt(at: Date): Times {
  return {
    next: (after) => (at > after ? at : undefined),
    previous: (notAfter) => (at <= notAfter ? at : undefined),
  };
}

const OFFSET = /^([+-])(\d\d):(\d\d)$/;
/** How far a date is searched for whose times the clocks skip, if the expression has no other time. */
const LOOKAHEAD_MS = 366 * DAY_MS;

/**
 * The times of one expression. croner has them, but for one kind: if the clocks skip all times of a date, the change itself
 * is the one time of that date. croner does this only for an expression with one hour and one minute. Such an expression
 * names a repeated time once, the first. Every other names both.
 */
class CronTimes implements Times {
  readonly #cron: Croner.Cron;
  /** By the wall clock, as if that were UTC. */
  #wall: Croner.Cron | undefined;

  constructor(
    private readonly declared: DeclaredCron,
    of: string,
  ) {
    const { expression, timeZone, dialect } = declared;
    if (!DIALECTS.includes(dialect)) refuseOption(`dialect${of}`, dialect, `use ${DIALECTS.join(', ')}`);
    if (timeZone !== undefined && !OFFSET.test(timeZone)) checkTimeZone(timeZone, `timeZone${of}`);
    try {
      this.#cron = this.#read(timeZone ?? hostTimeZone());
    } catch (cause) {
      const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
      throw new InvalidLockConfigurationError(
        `The cron expression ${describeValue(expression)}${of} cannot be read: ${why}.`,
        { cause },
      );
    }
    if (this.next(new Date()) !== undefined) return;
    throw new InvalidLockConfigurationError(
      `The cron expression ${describeValue(expression)}${of} never fires: no date matches it.`,
    );
  }

  next(after: Date): Date | undefined {
    const found = this.#cron.nextRun(after) ?? undefined;
    const untilMs = found?.getTime() ?? after.getTime() + LOOKAHEAD_MS;
    return this.#skippedDates(after.getTime(), untilMs)[0] ?? found;
  }

  previous(notAfter: Date): Date | undefined {
    const atMs = notAfter.getTime();
    const [found] = this.#cron.previousRuns(1, new Date(atMs + 1));
    const fromMs = found?.getTime() ?? atMs - LOOKAHEAD_MS;
    return this.#skippedDates(fromMs, atMs + 1).at(-1) ?? found;
  }

  #read(timeZone: string): Croner.Cron {
    const { expression, dialect } = this.declared;
    const [, sign, hours, minutes] = OFFSET.exec(timeZone) ?? [];
    const utcOffset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
    const zone = sign === undefined ? { timezone: timeZone } : { utcOffset };
    // Loaded only for an application with schedules.
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load it at the start
    const { Cron } = require('croner') as typeof Croner;
    const domAndDow = dialect === 'node-cron';
    return new Cron(readExpression(expression, dialect), { ...zone, domAndDow, paused: true });
  }

  /** The changes of the clocks after `fromMs` and before `toMs` that skip all times of a date. */
  #skippedDates(fromMs: number, toMs: number): Date[] {
    const { timeZone = hostTimeZone() } = this.declared;
    if (OFFSET.test(timeZone)) return [];
    const stretches = offsetStretches(timeZone, fromMs, toMs + 1);
    return stretches.flatMap(({ toMs: changeMs, offsetMs }, index) => {
      const after = stretches[index + 1];
      if (after === undefined || after.offsetMs <= offsetMs || changeMs <= fromMs || changeMs >= toMs)
        return [];
      return this.#skipsDate(changeMs + offsetMs, changeMs + after.offsetMs) ? [new Date(changeMs)] : [];
    });
  }

  /** Whether a date has times by the wall clock, and all of them in the gap. */
  #skipsDate(gapFromMs: number, gapToMs: number): boolean {
    const wall = (this.#wall ??= this.#read('+00:00'));
    for (let day = Math.floor(gapFromMs / DAY_MS); day * DAY_MS < gapToMs; day += 1) {
      const first = wall.nextRun(new Date(day * DAY_MS - 1))?.getTime() ?? Infinity;
      if (first < gapFromMs || first >= Math.min(gapToMs, (day + 1) * DAY_MS)) continue;
      const last = wall.previousRuns(1, new Date((day + 1) * DAY_MS))[0]?.getTime() ?? first;
      if (last < gapToMs) return true;
    }
    return false;
  }
}
