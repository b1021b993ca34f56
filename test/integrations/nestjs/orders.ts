import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock, type JobGuard } from 'cronlatch';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { CronlatchModule } from 'cronlatch/nestjs';
import { application, cronJobs } from './application';
import { operations } from 'cronlatch/operations';

/** The outcome of a once-per job in Tokyo whose guard has Lima as the default. */
export interface Outcome {
  /** The business dates of its runs, after each mounted job has ticked. It is the next day in Tokyo already. */
  readonly dates: readonly (string | undefined)[];
  readonly warnings: readonly string[];
  /** Whether `operations(guard).overview()` lists the job before its first run. */
  readonly isKnown: boolean;
}

export const IN_TOKYO: Outcome = { dates: ['2026-11-20'], warnings: [], isKnown: true };

type Order = readonly (readonly [name: string, create: () => MethodDecorator])[];

/** The decorators of a job in every order, from the outermost to the innermost. `wrapper` makes a fourth one. */
export function ordersWith(wrapper?: () => MethodDecorator): [name: string, order: Order][] {
  const all: Order = [
    ['@Cron', () => Cron('0 3 * * *', { timeZone: 'Asia/Tokyo' })],
    ['@SchedulerLock', () => SchedulerLock('close-day', '1m') as unknown as MethodDecorator],
    ['@OncePerDay', () => OncePerDay() as unknown as MethodDecorator],
    ...(wrapper === undefined ? [] : ([['the wrapper', wrapper]] as const)),
  ];
  return permutations(all).map((order) => [order.map(([name]) => name).join(' above '), order]);
}

function permutations<T>(all: readonly T[]): T[][] {
  if (all.length === 0) return [[]];
  return all.flatMap((first) =>
    permutations(all.filter((each) => each !== first)).map((rest) => [first, ...rest]),
  );
}

export interface Surroundings {
  /** Called before the application starts. */
  readonly prepare?: (guard: JobGuard) => void;
  /** The modules of the application besides those of every test. */
  readonly more?: (() => DynamicModule[]) | undefined;
}

/** Starts an application with a job that has these decorators, and lets each cron job that Nest mounted tick once. */
export async function outcomeOf(order: Order, { prepare, more }: Surroundings = {}): Promise<Outcome> {
  const dates: (string | undefined)[] = [];
  class Jobs {
    async closeDay(): Promise<void> {
      await Promise.resolve(dates.push(currentRun().businessDate));
    }
  }
  const decorators = order.map(([, create]) => create());
  const method = Object.getOwnPropertyDescriptor(Jobs.prototype, 'closeDay');
  Object.defineProperty(
    Jobs.prototype,
    'closeDay',
    Reflect.decorate(decorators, Jobs.prototype, 'closeDay', method),
  );
  const { guard } = guardOfRuns({ defaultTimeZone: 'America/Lima' });
  const warnings: string[] = [];
  guard.on('guard:warning', ({ message }) => void warnings.push(message));
  prepare?.(guard);
  const imports = [ScheduleModule.forRoot(), CronlatchModule.forRoot({ guard }), ...(more?.() ?? [])];
  const app = await (await application({ imports, providers: [Jobs] })).init();
  const isKnown = (await operations(guard).overview()).jobs.some(({ job }) => job === 'close-day');
  for (const job of cronJobs(app).values()) await job.fireOnTick();
  await app.close();
  return { dates, warnings, isKnown };
}
