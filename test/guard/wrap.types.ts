/** The types that `guard.wrap` takes and returns: this file is compiled, and never run. */
import type { JobGuard } from 'cronlatch';

const JOB = { name: 'job', lockAtMostFor: '1m' } as const;
const nothing = async (): Promise<void> => {};

/** A scheduler that passes the scheduled time to its handlers. */
declare function onTick(handler: (fireDate: Date) => Promise<unknown>): void;

export function wrapped(guard: JobGuard): void {
  const scheduledAt = (fireDate: Date): Date => fireDate;
  onTick(guard.wrap(JOB, nothing));
  onTick(guard.wrap(JOB, nothing, { scheduledAt }));
  onTick(guard.wrap(JOB, (fireDate: Date) => fireDate.getTime(), { scheduledAt }));
  onTick(guard.wrap(JOB, (fireDate: Date) => fireDate.getTime(), { scheduledAt: (fireDate) => fireDate }));
  onTick(guard.wrap(JOB, nothing, { scheduledAt: () => undefined, onError: 'throw' }));

  const add = guard.wrap(JOB, (a: number, b: number) => a + b, { scheduledAt: (ms) => new Date(ms) });
  void add(1, 2).then((sum: number | undefined) => sum);
  // @ts-expect-error -- it was made for two numbers
  void add('1');
  // @ts-expect-error -- the instant is a Date
  guard.wrap(JOB, nothing, { scheduledAt: (ms: number) => ms });
  // @ts-expect-error -- the handler is called with what the scheduler gives
  guard.wrap(JOB, (name: string) => name.length, { scheduledAt });
}
