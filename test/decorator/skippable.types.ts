/** Which methods can be guarded: this file is compiled in both modes, and never run. */
import { OncePerDay, SchedulerLock } from 'cronlatch';
import type { Skippable } from 'cronlatch/provider';

interface Report {
  readonly total: number;
}

const report: Report = { total: 1 };

export class Taken {
  @SchedulerLock('job', '1m')
  async nothing(): Promise<void> {}

  @SchedulerLock('job', '1m')
  async perhaps(): Promise<Report | undefined> {
    return await Promise.resolve(report);
  }

  @SchedulerLock('job', '1m')
  synchronous(): void {}

  @SchedulerLock('job', '1m')
  like(): PromiseLike<void> {
    return Promise.resolve();
  }

  @SchedulerLock('job', '1m')
  async unknown(): Promise<unknown> {
    return await Promise.resolve(report);
  }

  @SchedulerLock('job', '1m')
  async generic<T extends Report>(reports: readonly T[]): Promise<T | undefined> {
    return await Promise.resolve(reports[0]);
  }

  @SchedulerLock('job', '1m')
  async withThis(this: Taken, ...more: string[]): Promise<number | undefined> {
    return await Promise.resolve(more.length);
  }

  overloaded(id: number): Promise<Report | undefined>;
  overloaded(name: string, strict: boolean): Promise<number | undefined>;
  @SchedulerLock('job', '1m')
  async overloaded(): Promise<Report | number | undefined> {
    return await Promise.resolve(report);
  }

  @SchedulerLock('job', '1m')
  static async ofTheClass(): Promise<void> {}

  @SchedulerLock('job', '1m')
  private async hidden(): Promise<void> {}

  @SchedulerLock('job', '1m')
  protected async inner(): Promise<void> {
    await this.hidden();
  }
}

export class Refused {
  // @ts-expect-error -- "a skipped run resolves to undefined: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  async certain(): Promise<Report> {
    return await Promise.resolve(report);
  }

  // @ts-expect-error -- "a skipped run resolves to undefined: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  async nullable(): Promise<Report | null> {
    return await Promise.resolve(null);
  }

  // @ts-expect-error -- "a guarded method is asynchronous: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  plain(): Report {
    return report;
  }

  // @ts-expect-error -- "a guarded method is asynchronous: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  plainOrUndefined(): number | undefined {
    return 1;
  }

  // @ts-expect-error -- "a skipped run resolves to undefined: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  async generic<T>(item: T & object): Promise<T & object> {
    return await Promise.resolve(item);
  }

  // @ts-expect-error -- "a guarded method is asynchronous: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  *generator(): Generator<number> {
    yield 1;
  }
}

/** A guarded method keeps its own type. */
export async function keptTypes(taken: Taken): Promise<(string | number | undefined)[]> {
  const first: { total: number; name: string } | undefined = await taken.generic([{ total: 1, name: 'a' }]);
  const byId: Report | undefined = await taken.overloaded(1);
  const byName: number | undefined = await taken.overloaded('a', true);
  // @ts-expect-error -- no overload accepts this
  await taken.overloaded('a');
  // @ts-expect-error -- a report has a total
  await taken.generic([{ name: 'a' }]);
  return [first?.name, byId?.total, byName];
}

type IsTaken<F> = unknown extends Skippable<F> ? true : false;

export const verdicts: [
  IsTaken<() => Promise<void>>,
  IsTaken<() => Promise<Report | undefined>>,
  IsTaken<() => Promise<Report> | undefined>,
  IsTaken<() => undefined>,
  IsTaken<(...args: number[]) => Promise<undefined>>,
  IsTaken<() => Promise<Report>>,
  IsTaken<() => Promise<Report> | Promise<void>>,
  IsTaken<() => number | undefined>,
  IsTaken<() => unknown>,
  IsTaken<() => Promise<Report> | Report>,
  IsTaken<number>,
] = [true, true, true, true, true, false, true, false, false, false, false];

export class Throwing {
  @SchedulerLock({ name: 'job', onSkip: 'throw' })
  async never(): Promise<Report> {
    return await Promise.resolve(report);
  }

  @OncePerDay({ name: 'job', onSkip: 'throw' })
  async once(): Promise<Report> {
    return await Promise.resolve(report);
  }

  // @ts-expect-error -- a guarded method is asynchronous
  @SchedulerLock({ name: 'job', onSkip: 'throw' })
  synchronous(): Report {
    return report;
  }

  // @ts-expect-error -- a skipped call resolves to undefined
  @SchedulerLock({ name: 'job', onSkip: 'resolve' })
  async perhaps(): Promise<Report> {
    return await Promise.resolve(report);
  }
}
