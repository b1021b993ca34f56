/** The other end of `Child`: imported by the scripts that run as a child. */
import { once } from 'node:events';
import type { Message } from './child';

export function send<M extends Message>(message: M): void {
  process.send?.(message);
}

/** The next message from the test. */
export async function nextCommand<T>(): Promise<T> {
  const [word] = (await once(process, 'message')) as [T];
  return word;
}

export function argument<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T;
}

// The test has ended, so no process would end this one.
process.once('disconnect', () => process.exit(1));
