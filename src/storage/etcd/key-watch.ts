import type { ClientRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { LockStorageError, type Clock } from '../../core';
import { parsed } from './etcd-answer';

/** A stream can end without either side noticing it. So the wait ends after this time, too. */
const LONGEST_WATCH_MS = 60_000;

/**
 * Resolves at the first event of a watch, when its stream ends, or with the signal.
 *
 * @throws LockStorageError if the watch does not begin
 */
export function watchOnce(watch: ClientRequest, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      watch.destroy();
      resolve();
    };
    const fail = (why: string, cause?: Error): void => {
      if (!hasBegun && !signal.aborted)
        reject(new LockStorageError(`etcd did not begin the watch of a lock: ${why}`, { cause }));
      end();
    };
    const cancel = clock.schedule(LONGEST_WATCH_MS, end, { keepAlive: false });
    signal.addEventListener('abort', end);
    watch.on('error', (error) => fail(error.message, error));
    watch.on('response', (response) => {
      const lines = createInterface({ input: response });
      const ended = (): void => fail('the stream ended');
      response.on('error', ended);
      lines.on('error', ended).on('close', ended);
      lines.on('line', (line) => {
        const answer = parsed(line)?.['result'] as
          { readonly created?: boolean; readonly canceled?: boolean } | undefined;
        if (answer?.created && !answer.canceled) hasBegun = true;
        else fail(line);
      });
    });
    if (signal.aborted) end();
  });
}
