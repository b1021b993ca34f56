import { LockManager, type CronlatchEvents } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { EventHub } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { lockBench } from '../../support/benches/lock';

export const ORDER = { name: 'order', lockAtMostFor: '10m' } as const;

/** The lock managers of two processes, on a store that cannot notify, with everything that the first one reports. */
export function polledBench() {
  const bench = lockBench();
  const events = new EventHub();
  const emitted: string[] = [];
  const warnings: CronlatchEvents['guard:warning'][] = [];
  const names = [
    'lock:acquired',
    'lock:skipped',
    'lock:failed',
    'lock:released',
    'lock:releaseFailed',
  ] as const;
  for (const name of names) events.on(name, () => void emitted.push(name));
  events.on('guard:warning', (warning) => void warnings.push(warning));
  const options = { lockAtMostFor: '10m', clock: bench.clock, random: () => 1 } as const;
  return {
    ...bench,
    emitted,
    warnings,
    here: new LockManager(bench.provider, { ...options, events }),
    there: new LockManager(bench.other, options),
  };
}

/** The lock managers of two processes, on a store that notifies. */
export function notifiedBench() {
  const clock = new SettableClock();
  const provider = new InMemoryLockProvider({ clock });
  // Waiters of one process queue by their provider.
  const elsewhere = { lock: provider.lock.bind(provider), released: provider.released.bind(provider) };
  const options = { lockAtMostFor: '10m', clock, random: () => 1 } as const;
  return {
    clock,
    provider,
    here: new LockManager(provider, options),
    there: new LockManager(elsewhere, options),
  };
}
