import type { CronlatchEvents } from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import { EventHub, LockingTaskExecutor } from 'cronlatch/provider';
import { lockBench } from './lock';

const OBSERVED: readonly EventName[] = [
  ...([
    'lock:acquired',
    'lock:skipped',
    'lock:failed',
    'lock:extended',
    'lock:lost',
    'lock:released',
    'lock:releaseFailed',
  ] as const),
  ...(['run:started', 'run:completed', 'run:failed', 'run:stuck', 'guard:warning'] as const),
];

/** An executor on a store with faults, with everything that it reports. */
export function executorBench() {
  const bench = lockBench();
  const events = new EventHub();
  const emitted: [EventName, CronlatchEvents[EventName]][] = [];
  for (const name of OBSERVED) events.on(name, (event) => void emitted.push([name, event]));
  return {
    ...bench,
    events,
    emitted,
    names: () => emitted.map(([name]) => name),
    executor: new LockingTaskExecutor(bench.provider, { clock: bench.clock, events }),
    otherExecutor: new LockingTaskExecutor(bench.other, { clock: bench.clock }),
  };
}

/** A promise that the test settles. */
export function signal<T = void>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
