import type { TestContext } from 'node:test';

/** A once-per job that counts how often its configuration is read, and how often the name of its lock is checked. */
export function countedParses(t: TestContext) {
  const lockName = 'parsed-lock';
  let reads = 0;
  const retry = {
    get maxAttempts(): number {
      reads += 1;
      return 2;
    },
  };
  // The check of a name iterates over its code points.
  const walks = t.mock.method(Array, 'from');
  return {
    lock: { name: lockName, lockAtMostFor: '1m' },
    oncePer: { name: 'parsed-job', timeZone: 'UTC', retry },
    reads: (): number => reads,
    nameChecks: (): number => walks.mock.calls.filter(({ arguments: [value] }) => value === lockName).length,
  } as const;
}
