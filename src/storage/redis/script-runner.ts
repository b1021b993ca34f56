import { randomUUID } from 'node:crypto';
import { LockStorageError, systemClock } from '../../core';
import { withinLimitOr } from '../../core/clock';
import type { RedisCommandFunction } from './redis-client';
import { messageOf, redisErrorOf, replyCodeOf } from './redis-errors';
import type { RedisScript } from './redis-scripts';

interface RedisStatement {
  readonly script: RedisScript;
  readonly name: string;
  readonly key: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

export interface RedisAnswer {
  readonly status: string;
  readonly values: readonly string[];
  /** The server's time, in microseconds. */
  readonly nowUs: number;
  /** Why replicas may not have this write. */
  readonly missing?: string;
}

/** The first statement learns the server's time, and the server's clock may be set forward once meanwhile. */
const MOST_SENDS = 3;

/**
 * Runs scripts. A client may send a script again long after its caller has stopped waiting, so each script does nothing
 * after a time of the server's clock.
 */
export class ScriptRunner {
  /** The server's time less ours. Never too little: the server read its clock after the script was sent. */
  #serverAheadUs: number | undefined;

  /** @param onAnswer called with the key of each script that the server has answered */
  constructor(
    private readonly send: RedisCommandFunction,
    private readonly onAnswer: (key: string) => void = () => {},
  ) {}

  /** @throws LockStorageError */
  run(statement: RedisStatement): Promise<RedisAnswer> {
    return limited(statement, (endsAtMs) => this.#send(statement, endsAtMs));
  }

  async #send(statement: RedisStatement, endsAtMs: number): Promise<RedisAnswer> {
    const { script, name, key, args } = statement;
    for (let sends = 1; sends <= MOST_SENDS; sends += 1) {
      const sentAtMs = systemClock.monotonicMs();
      const notAfterUs = this.#serverAheadUs === undefined ? 0 : this.#serverAheadUs + endsAtMs * 1000;
      const answer = await this.#evaluate(script, key, [String(Math.ceil(notAfterUs)), ...args]);
      const [time, status, ...values] = Array.isArray(answer) ? answer.map(String) : [];
      const nowUs = Number(time);
      if (status === undefined || !Number.isSafeInteger(nowUs))
        throw new LockStorageError(
          `The Redis client did not return the answer of the script for lock '${name}'. A function must return what the server has answered.`,
        );
      const isInTime = systemClock.monotonicMs() < endsAtMs;
      if (isInTime) this.#serverAheadUs = nowUs - sentAtMs * 1000;
      this.onAnswer(key);
      if (status !== 'late') return { status, values, nowUs };
      // Its client may have sent it twice, and the first copy may have run.
      if (!isInTime) throw timeoutError(statement);
    }
    throw new LockStorageError(
      `Redis refused the statement for lock '${name}' as too late. Check whether the server's clock jumps.`,
      { outcome: 'nothing-ran' },
    );
  }

  async #evaluate({ sha1, text }: RedisScript, key: string, args: readonly string[]): Promise<unknown> {
    try {
      return await this.send(['EVALSHA', sha1, '1', key, ...args], key);
    } catch (error) {
      if (replyCodeOf(messageOf(error)) !== 'NOSCRIPT') throw error;
      return await this.send(['EVAL', text, '1', key, ...args], key);
    }
  }
}

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

/** @throws LockStorageError if it fails, or takes longer than the statement may */
function limited<T>(statement: RedisStatement, run: (endsAtMs: number) => Promise<T>): Promise<T> {
  const { name, timeoutMs } = statement;
  const running = run(systemClock.monotonicMs() + timeoutMs).catch((error: unknown) => {
    throw redisErrorOf(error, name);
  });
  return withinLimitOr(systemClock, running, timeoutMs, () => timeoutError(statement));
}

function timeoutError({ name, timeoutMs }: RedisStatement): LockStorageError {
  return new LockStorageError(`Redis did not answer for lock '${name}' within ${Math.round(timeoutMs)} ms.`);
}
