/** Which fields can be guarded: this file is compiled in standard mode, and never run. */
import { OncePerDay, SchedulerLock } from 'cronlatch';

export class Taken {
  @SchedulerLock('job', '1m')
  readonly nothing = async (): Promise<void> => {};

  @SchedulerLock('job', '1m')
  @OncePerDay({ timeZone: 'Europe/Paris' })
  readonly perhaps = async (id: number): Promise<number | undefined> => await Promise.resolve(id);

  @SchedulerLock('job', '1m')
  readonly generic = async <T>(items: readonly T[]): Promise<T | undefined> =>
    await Promise.resolve(items[0]);

  @SchedulerLock('job', '1m')
  async #hidden(): Promise<void> {}

  async inner(): Promise<void> {
    await this.#hidden();
  }
}

export class Refused {
  // @ts-expect-error -- "a skipped run resolves to undefined: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  readonly certain = async (): Promise<number> => await Promise.resolve(1);

  // @ts-expect-error -- "a guarded method is asynchronous: declare Promise<T | undefined>"
  @SchedulerLock('job', '1m')
  readonly plain = (): number | undefined => 1;

  // @ts-expect-error -- not a function
  @SchedulerLock('job', '1m')
  readonly value = 1;
}

/** A guarded field keeps its own type. */
export async function keptTypes(taken: Taken): Promise<(number | undefined)[]> {
  const first: { total: number } | undefined = await taken.generic([{ total: 1 }]);
  // @ts-expect-error -- "Argument of type 'string' is not assignable to parameter of type 'number'"
  const second: number | undefined = await taken.perhaps('1');
  return [first?.total, second];
}
