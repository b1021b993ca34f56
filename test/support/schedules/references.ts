/** The schedulers whose expressions `Schedule` reads: which times they name by the wall clock, and in a time zone. */
import { CronTime } from 'cron';
import { Cron } from 'croner';
import { createTask, parse, validate } from 'node-cron';

const DAY_MS = 86_400_000;
/** As many years of `29 2 *` on a given weekday, for node-cron. */
const MOST_DAYS = 366 * 41;

export interface Reference {
  /** The first time after an instant, by a wall clock that is read as UTC. */
  readonly wallNext: (afterMs: number) => number | undefined;
  /** Whether the scheduler takes it for a single time of a date. */
  readonly isSingle: boolean;
}

export interface Scheduler {
  /** @returns `undefined` if the scheduler refuses the expression */
  read(expression: string): Reference | undefined;
}

export const nodeCron = {
  read: (expression) => {
    if (!validate(expression)) return undefined;
    const { hour, minute, second, month } = parse(expression);
    const inOrder = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b);
    const times = inOrder(hour).flatMap((hours) =>
      inOrder(minute).flatMap((minutes) =>
        inOrder(second).map((seconds) => ((hours * 60 + minutes) * 60 + seconds) * 1000),
      ),
    );
    const matches = nodeCronMatch(expression, 'UTC');
    const [first = 0] = times;
    const wallNext = (afterMs: number): number | undefined => {
      const today = Math.floor(afterMs / DAY_MS);
      for (let day = today; day < today + MOST_DAYS; day += 1) {
        const startMs = day * DAY_MS;
        const time = day === today ? times.find((ms) => startMs + ms > afterMs) : first;
        if (time === undefined || !month.includes(new Date(startMs).getUTCMonth() + 1)) continue;
        if (matches(startMs + first)) return startMs + time;
      }
      return undefined;
    };
    return { wallNext: remembered(wallNext), isSingle: times.length === 1 };
  },
} satisfies Scheduler;

export const cron = {
  read: (expression) => {
    if (!CronTime.validateCronExpression(expression).valid) return undefined;
    const wallNext = remembered(cronNext(expression, 'UTC'));
    return { wallNext, isSingle: isSingle(wallNext) };
  },
} satisfies Scheduler;

export const croner = {
  read: (expression) => {
    const next = cronerNext(expression, undefined);
    if (next === undefined) return undefined;
    const wallNext = remembered(next);
    const time = expression.trim().split(/\s+/).slice(0, -3).join(' ');
    return { wallNext, isSingle: !/[*/?@]/.test(time) && isSingle(wallNext) };
  },
} satisfies Scheduler;

export function nodeCronMatch(expression: string, timezone: string): (atMs: number) => boolean {
  const task = createTask(expression, () => undefined, { timezone });
  void task.destroy();
  return (atMs) => task.match(new Date(atMs));
}

export function cronNext(expression: string, timeZone: string): (afterMs: number) => number | undefined {
  const time = new CronTime(expression, timeZone);
  return (afterMs) => {
    try {
      return time.getNextDateFrom(new Date(afterMs), timeZone).toMillis();
    } catch {
      // It found none in the next eight years.
      return undefined;
    }
  };
}

export function cronerNext(
  expression: string,
  timezone: string | undefined,
): ((afterMs: number) => number | undefined) | undefined {
  try {
    const zone = timezone === undefined ? { utcOffset: 0 } : { timezone };
    const read = new Cron(expression, { ...zone, paused: true });
    return (afterMs) => read.nextRun(new Date(afterMs))?.getTime();
  } catch {
    return undefined;
  }
}

function isSingle(wallNext: Reference['wallNext']): boolean {
  const first = wallNext(Date.UTC(2026, 0, 1) - 1) ?? 0;
  // The first date may have begun before.
  const [one, other] = [first, wallNext(first)];
  return other === undefined || Math.floor(one / DAY_MS) !== Math.floor(other / DAY_MS);
}

/** Most instants of a test have few different answers, and cron is slow. */
function remembered(next: Reference['wallNext']): Reference['wallNext'] {
  const known: { readonly fromMs: number; readonly at: number | undefined }[] = [];
  return (afterMs) => {
    const found = known.find(({ fromMs, at = Infinity }) => fromMs <= afterMs && afterMs < at);
    if (found !== undefined) return found.at;
    const at = next(afterMs);
    known.push({ fromMs: afterMs, at });
    return at;
  };
}
