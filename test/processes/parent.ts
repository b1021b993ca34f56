/** The other end of `Child`: imported by the scripts that run as one. */
import { once } from 'node:events';
import type { Message } from './child';

export function tell<M extends Message>(message: M): void {
  process.send?.(message);
}

/** The next thing that the test says. */
export async function nextWord<T>(): Promise<T> {
  const [word] = (await once(process, 'message')) as [T];
  return word;
}

export function argument<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T;
}

// The test is gone, however it ended: nobody is left to end this process.
process.once('disconnect', () => process.exit(1));
