import type * as Croner from 'croner';
import { hostTimeZone } from '../../core/clock';
import { DAY_MS } from '../../core/duration';
import { InvalidLockConfigurationError } from '../../core/errors';
import { describeValue, refuseOption } from '../../core/options';
import { BoundedCache } from './bounded-cache';
import { DIALECTS, readExpression, type Dialect } from './schedule-expression';
import { checkTimeZone, MOST_OFFSET_MS, offsetStretches, type OffsetStretch } from './time-zone';

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
export function intervalOf(schedules: readonly DeclaredSchedule[] = []): number | undefined {
  const [every] = schedules.flatMap((each) => ('every' in each && each.every > 0 ? each.every : []));
  return every;
}

type Times = Pick<CronTimes, 'next' | 'previous'>;

/** The scheduled times of a job: those of all its schedules. */
export class Schedule {
  /** Of an expression that only its scheduler can read: it has no times here. */
  static readonly UNKNOWN = new Schedule([]);
  /** The first times of past periods, which never change: those of a year of hours. */
  readonly #known = new BoundedCache<Date | undefined>(10_000);
  #newest: { readonly at: Date | undefined; readonly fromMs: number; readonly nextMs: number } | undefined;

  private constructor(private readonly times: readonly Times[]) {}

  /**
   * @param of names the job in messages, for example ` of job 'close-day'`
   * @returns `undefined` without a schedule. An interval has no times that all instances share.
   * @throws InvalidLockConfigurationError naming an expression that cannot be read or never matches, or an unknown zone
   */
  static of(declared: readonly DeclaredSchedule[], of = ''): Schedule | undefined {
    const times = declared.flatMap((each): Times[] => {
      if ('every' in each) return [];
      if ('at' in each) return [onceAt(new Date(each.at))];
      const { expression, timeZone = hostTimeZone(), dialect } = each;
      const declared = { expression, timeZone, dialect };
      return [known.get(JSON.stringify(declared), () => new CronTimes(declared, of))];
    });
    return declared.length === 0 ? undefined : new Schedule(times);
  }

  next(after: Date): Date | undefined {
    return earliestFirst(this.times.map((times) => times.next(after)))[0];
  }

  previous(notAfter: Date): Date | undefined {
    return earliestFirst(this.times.map((times) => times.previous(notAfter))).at(-1);
  }

  /** As `previous`, for one that asks often: computes times only when the next one has come. */
  newest(now: Date): Date | undefined {
    const nowMs = now.getTime();
    if (this.#newest === undefined || nowMs < this.#newest.fromMs || nowMs >= this.#newest.nextMs) {
      const at = this.previous(now);
      const nextMs = this.next(now)?.getTime() ?? Infinity;
      this.#newest = { at, fromMs: at?.getTime() ?? nowMs, nextMs };
    }
    return this.#newest.at;
  }

  following(after: Date, limit: number): Date[] {
    const times: Date[] = [];
    for (let at = this.next(after); at !== undefined && times.length < limit; at = this.next(at))
      times.push(at);
    return times;
  }

  /** The first time from `start` on, before `end`. */
  firstIn({ start, end }: { readonly start: Date; readonly end: Date }): Date | undefined {
    return this.#known.get(`${start.getTime()} ${end.getTime()}`, () => {
      const next = this.next(new Date(start.getTime() - 1));
      return next !== undefined && next < end ? next : undefined;
    });
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

/** By expression, zone and dialect: many jobs of many instances have the same. */
const known = new BoundedCache<CronTimes>(5000);

/** Also as a list or a range: `3,3` and `3-3`. */
const ONE_VALUE = /^0*(\d+)(?:[-,]0*\1)*$/;

/** No change of the clocks repeats or skips more. */
const MOST_CHANGE_MS = DAY_MS;

/**
 * The times of one expression. croner finds them on the wall clock, as if that were UTC, and here they get their instants. If
 * the clocks skip all times of a date, the change itself is the one time of that date. An expression with one time a day names
 * a repeated time once, the first. Every other names both.
 */
class CronTimes {
  readonly #wall: Croner.Cron;
  readonly #isOnceADay: boolean;

  constructor(
    private readonly declared: DeclaredCron & { readonly timeZone: string },
    of: string,
  ) {
    const { expression, timeZone, dialect } = declared;
    if (!DIALECTS.includes(dialect)) refuseOption(`dialect${of}`, dialect, `use ${DIALECTS.join(', ')}`);
    if (!OFFSET.test(timeZone)) checkTimeZone(timeZone, `timeZone${of}`);
    const named = `The cron expression ${describeValue(expression)}${of}`;
    try {
      const read = readExpression(expression, dialect);
      const fields = read.split(' ');
      this.#isOnceADay = fields.slice(0, fields.length === 5 ? 2 : 3).every((field) => ONE_VALUE.test(field));
      // Loaded only for an application with schedules.
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load it at the start
      const { Cron } = require('croner') as typeof Croner;
      this.#wall = new Cron(read, { utcOffset: 0, domAndDow: dialect === 'node-cron', paused: true });
    } catch (cause) {
      const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
      throw new InvalidLockConfigurationError(`${named} cannot be read: ${why}.`, { cause });
    }
    if (this.next(new Date()) === undefined)
      throw new InvalidLockConfigurationError(`${named} never fires: no date matches it.`);
  }

  next(after: Date): Date | undefined {
    const afterMs = after.getTime();
    // One time lies before the end of this search, unless the clocks skip it.
    const wallMs = this.#wallAfter(afterMs + MOST_OFFSET_MS);
    const toMs = (wallMs ?? afterMs) + 2 * MOST_OFFSET_MS;
    for (const { fromMs, toMs: endMs, offsetMs, firstWallMs, isTime } of this.#stretches(afterMs + 1, toMs)) {
      if (isTime && fromMs > afterMs) return new Date(fromMs);
      const nextWallMs = this.#wallAfter(Math.max(firstWallMs - 1, afterMs + offsetMs)) ?? Infinity;
      if (nextWallMs - offsetMs < endMs) return new Date(nextWallMs - offsetMs);
    }
    return wallMs === undefined ? undefined : this.next(new Date(toMs - 1));
  }

  previous(notAfter: Date): Date | undefined {
    const untilMs = notAfter.getTime() + 1;
    const wallMs = this.#wallBefore(untilMs - MOST_OFFSET_MS);
    const fromMs = (wallMs ?? untilMs) - 2 * MOST_OFFSET_MS;
    for (const stretch of this.#stretches(fromMs, untilMs).reverse()) {
      const { toMs, offsetMs, firstWallMs, isTime } = stretch;
      const lastWallMs = this.#wallBefore(Math.min(toMs, untilMs) + offsetMs) ?? -Infinity;
      if (lastWallMs >= firstWallMs) return new Date(lastWallMs - offsetMs);
      if (isTime) return new Date(stretch.fromMs);
    }
    return wallMs === undefined ? undefined : this.previous(new Date(fromMs - 1));
  }

  #wallAfter(ms: number): number | undefined {
    return this.#wall.nextRun(new Date(ms))?.getTime();
  }

  #wallBefore(ms: number): number | undefined {
    return this.#wall.previousRuns(1, new Date(ms))[0]?.getTime();
  }

  /** The stretches that reach into a time, with the first wall time that they name, and whether they begin with a time. */
  #stretches(fromMs: number, toMs: number) {
    const stretches = stretchesOf(this.declared.timeZone, fromMs - MOST_CHANGE_MS, toMs);
    return stretches.flatMap((stretch, index) => {
      const beganWallMs = stretch.fromMs + stretch.offsetMs;
      const leftWallMs = stretch.fromMs + (stretches[index - 1] ?? stretch).offsetMs;
      const firstWallMs = this.#isOnceADay ? Math.max(beganWallMs, leftWallMs) : beganWallMs;
      const isTime = beganWallMs > leftWallMs && this.#skipsDate(leftWallMs, beganWallMs);
      return stretch.toMs <= fromMs ? [] : [{ ...stretch, firstWallMs, isTime }];
    });
  }

  /** Whether a date has times by the wall clock, and all of them in the gap. */
  #skipsDate(gapFromMs: number, gapToMs: number): boolean {
    for (let day = Math.floor(gapFromMs / DAY_MS); day * DAY_MS < gapToMs; day += 1) {
      const first = this.#wallAfter(day * DAY_MS - 1) ?? Infinity;
      if (first < gapFromMs || first >= Math.min(gapToMs, (day + 1) * DAY_MS)) continue;
      if ((this.#wallBefore((day + 1) * DAY_MS) ?? first) < gapToMs) return true;
    }
    return false;
  }
}

const OFFSET = /^([+-])(0\d|1[0-5]):([0-5]\d)$/;

function stretchesOf(timeZone: string, fromMs: number, toMs: number): OffsetStretch[] {
  const [, sign, hours, minutes] = OFFSET.exec(timeZone) ?? [];
  if (sign === undefined) return offsetStretches(timeZone, fromMs, toMs);
  const offsetMs = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  return [{ fromMs, toMs, offsetMs }];
}
