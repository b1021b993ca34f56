import type { FoundRun, RunStore } from '#cronlatch/ledger/run-store';
import { WithoutRegister } from '../stores/without-register';

/** A store whose clock was set back, by this much, after its rows were written: the rows stay unchanged. */
export function setBack(inner: RunStore, ms: number): RunStore {
  const earlier = (now: Date): Date => new Date(now.getTime() - ms);
  return {
    ...new WithoutRegister(),
    peek: async (request, options) => {
      const peek = await inner.peek(request, options);
      return { ...peek, now: earlier(peek.now) };
    },
    change: (key, decide, options) => {
      const asSeen = (found: FoundRun | undefined): ReturnType<typeof decide> =>
        decide(found && { ...found, now: earlier(found.now) });
      return inner.change(key, asSeen, options);
    },
    registerJobs: (...call) => inner.registerJobs(...call),
    jobs: async (...call) => {
      const register = await inner.jobs(...call);
      return { ...register, now: earlier(register.now) };
    },
    overdue: (...call) => inner.overdue(...call),
    insert: (run, options) => inner.insert(run, options),
    complete: (...call) => inner.complete(...call),
    find: (...call) => inner.find(...call),
    events: (...call) => inner.events(...call),
    purge: (...call) => inner.purge(...call),
  };
}
