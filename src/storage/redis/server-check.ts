import type { RedisCommandFunction } from './redis-client';
import { messageOf, replyCodeOf } from './redis-errors';

/**
 * Checks once that the server evicts no keys. Locks do not wait for the check.
 *
 * @returns a function to call after each answer of the server, with the key of a lock
 */
export function serverCheck(
  send: RedisCommandFunction,
  warn: (message: string) => void,
): (key: string) => void {
  let isChecked = false;
  const check = async (key: string): Promise<void> => {
    const info = String(await send(['INFO', 'memory'], key));
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
    if (policy !== 'noeviction')
      warn(
        `The Redis server may delete locks that are held, because its maxmemory-policy is ${policy}. Set it to noeviction, or keep locks on a server of their own.`,
      );
  };
  return (key) => {
    if (isChecked) return;
    isChecked = true;
    check(key).catch((error: unknown) => {
      const message = messageOf(error);
      if (replyCodeOf(message) === undefined)
        isChecked = false; // The connection failed. The next answer checks again.
      else warn(`Could not check that the maxmemory-policy of the Redis server is noeviction: ${message}.`);
    });
  };
}
