import { randomUUID } from 'node:crypto';
import { systemClock } from '../../core';
import type { RedisCommandFunction } from './redis-client';
import { messageOf } from './redis-errors';
import { limited, ScriptRunner, type RedisAnswer, type RedisStatement } from './script-runner';

/**
 * Writes over a connection of its own, each followed by WAIT. The server counts the replicas that have all writes of this
 * connection, and blocks it meanwhile. So each write begins after the one before it.
 */
export class ConfirmedWrites {
  readonly #scripts: ScriptRunner;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly send: RedisCommandFunction,
    private readonly rules: { readonly replicas: number; readonly timeoutMs: number },
  ) {
    this.#scripts = new ScriptRunner(send);
  }

  /** @throws LockStorageError */
  run(statement: RedisStatement): Promise<RedisAnswer> {
    const result = limited(statement, async (endsAtMs) => {
      await this.#last;
      return await this.#write(statement, endsAtMs);
    });
    // The caller gets the error; the next write only waits for the end.
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #write(statement: RedisStatement, endsAtMs: number): Promise<RedisAnswer> {
    const { key } = statement;
    const leftMs = (): number => endsAtMs - systemClock.monotonicMs();
    // A new connection has no name. Its id can be the same, on another server.
    const connection = `cronlatch-${randomUUID()}`;
    await this.send(['CLIENT', 'SETNAME', connection], key);
    const answer = await this.#scripts.run({ ...statement, timeoutMs: leftMs() });
    if (answer.status !== 'done') return answer;
    const { replicas, timeoutMs } = this.rules;
    // Half of the time is left for the answer.
    const waitMs = Math.max(1, Math.floor(Math.min(timeoutMs, leftMs() / 2)));
    try {
      const confirmed = Number(await this.send(['WAIT', String(replicas), String(waitMs)], key));
      // All replicas confirm the writes of a new connection, because there are none.
      if (String(await this.send(['CLIENT', 'GETNAME'], key)) !== connection)
        return { ...answer, missing: 'the connection of wait was lost before replicas could confirm it' };
      if (confirmed >= replicas) return answer;
      return { ...answer, missing: `${confirmed} of ${replicas} replicas confirmed it within ${waitMs} ms` };
    } catch (error) {
      return { ...answer, missing: `WAIT failed: ${messageOf(error)}` }; // The script itself has run.
    }
  }
}
