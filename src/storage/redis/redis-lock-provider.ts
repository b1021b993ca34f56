import {
  InvalidLockConfigurationError,
  StorageBasedLockProvider,
  type Clock,
  type Duration,
  type LockProvider,
} from '../../core';
import { checkOptionNames, refuseOption } from '../../core/options';
import { parsePositiveDuration, parseStatementTimeout } from '../../core/duration';
import { checkStoredName, LONGEST_NAME_LENGTH } from '../../core/lock-name';
import { warnInProcess } from '../../core/warning';
import { PublishedReleases, type RedisSubscriber } from './published-releases';
import { adopt, commandFunctionOf, hasOneConnection } from './redis-client';
import type { RedisClient, RedisCommandFunction } from './redis-client';
import { messageOf, replyCodeOf } from './redis-errors';
import { RedisStorageAccessor } from './redis-storage-accessor';
import { ConfirmedWrites, ScriptRunner } from './script-runner';

export interface RedisLockProviderOptions {
  /**
   * Identifies the place of the locks: the same text on all instances that share them, and another one for each other
   * server or `keyPrefix`. It appears in messages, so it must not contain a password.
   */
  readonly id: string;
  /** A connected client. The provider never closes it. */
  readonly client: RedisClient;
  /** The beginning of all keys and channels. Default `cronlatch:`. */
  readonly keyPrefix?: string | undefined;
  /**
   * A second connection, `client.duplicate()`, so that a release wakes the processes that wait for the lock. Without it,
   * they poll. The provider connects it and closes it.
   */
  readonly subscriber?: RedisSubscriber | undefined;
  /** Grants a lock only if replicas have confirmed it. */
  readonly wait?: RedisWaitOptions | undefined;
  /** The longest name, in characters. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
  /** The longest time limit of a statement. The limit is a third of `lockAtMostFor` if that is shorter. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  /** Called once for each warning. Default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** For leases. The connection is watched in real time, because the server's clock is real too. */
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

export interface RedisWaitOptions {
  /** A connected client that nothing else uses: `client.duplicate()`. The provider closes it. */
  readonly client: RedisClient;
  /** How many replicas must have the lock before it counts as granted. At least 1. */
  readonly replicas: number;
  /** How long the server waits for them. Shorter than `statementTimeout`. */
  readonly timeout: Duration;
}

const SERVER = ['id', 'client', 'keyPrefix', 'subscriber', 'wait'];
const OPTIONS = [...SERVER, 'nameLength', 'statementTimeout', 'onWarning', 'clock', 'random'];

/** Locks on a Redis server. Redis itself ends a lease: its key expires. */
export class RedisLockProvider extends StorageBasedLockProvider implements LockProvider {
  /** Only with a `subscriber`. Without it, waiters poll. */
  readonly released?: (name: string, signal: AbortSignal) => Promise<void>;

  /** @throws InvalidLockConfigurationError for an invalid option */
  constructor(options: RedisLockProviderOptions) {
    checkOptionNames(options, OPTIONS, 'RedisLockProvider');
    const { id, client, keyPrefix = 'cronlatch:', subscriber, wait, statementTimeout = '5s' } = options;
    const { onWarning: warn = warnInProcess } = options;
    checkStoredName(id, { as: 'the id of a RedisLockProvider', longest: LONGEST_NAME_LENGTH });
    checkStoredName(keyPrefix, { as: 'the keyPrefix of a RedisLockProvider', longest: LONGEST_NAME_LENGTH });
    const limitMs = parseStatementTimeout(statementTimeout);
    const send = commandFunctionOf(client);
    const scripts = new ScriptRunner(send, serverCheck(send, warn));
    const writes = wait ? confirmedWritesOf(wait, client, limitMs) : scripts;
    const readLeftMs = async (key: string): Promise<number> => {
      const name = key.slice(keyPrefix.length);
      return (await accessor.find(name, { timeoutMs: limitMs, purpose: 'inspect' }))?.leftMs ?? 0;
    };
    if (subscriber !== undefined && (subscriber as unknown) === client)
      throw new InvalidLockConfigurationError(
        'subscriber of RedisLockProvider is the client itself, and a connection that subscribes takes no other commands: pass client.duplicate().',
      );
    const releases = subscriber === undefined ? undefined : new PublishedReleases(subscriber, readLeftMs);
    const owned = [subscriber, wait?.client].filter((own) => own !== undefined);
    const closers = owned.map((own) => adopt(own, firstErrorTo(warn)));
    const accessor = new RedisStorageAccessor(keyPrefix, scripts, writes, async () => {
      releases?.close();
      await Promise.all(closers.map((close) => close()));
    });
    const { nameLength, clock, random } = options;
    super(accessor, { id, nameLength, statementTimeout, clock, random });
    if (releases !== undefined)
      this.released = (name, signal) => releases.released(accessor.keyOf(name), signal);
  }

  /** Redis deletes the records of ended leases itself. */
  override purge(): Promise<number> {
    return Promise.resolve(0);
  }
}

/**
 * Checks once that the server evicts no keys. Locks do not wait for the check.
 *
 * @returns a function to call after each answer of the server, with the key of a lock
 */
function serverCheck(send: RedisCommandFunction, warn: (message: string) => void): (key: string) => void {
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

function firstErrorTo(warn: (message: string) => void): (error: unknown) => void {
  let isFirst = true;
  return (error) => {
    if (isFirst)
      warn(`A connection of RedisLockProvider failed: ${messageOf(error)}. Its client connects again.`);
    isFirst = false;
  };
}

function confirmedWritesOf(wait: RedisWaitOptions, client: RedisClient, limitMs: number): ConfirmedWrites {
  checkOptionNames(wait, ['client', 'replicas', 'timeout'], 'wait of RedisLockProvider');
  const { replicas, timeout } = wait;
  const send = commandFunctionOf(wait.client, 'wait.client');
  if (wait.client === client || !hasOneConnection(wait.client))
    throw new InvalidLockConfigurationError(
      `wait.client of RedisLockProvider is ${wait.client === client ? 'the client itself' : 'a client with several connections'}: WAIT counts the writes of its own connection, and blocks it. Pass one that nothing else uses, client.duplicate().`,
    );
  if (!Number.isSafeInteger(replicas) || replicas < 1)
    refuseOption('wait.replicas', replicas, 'it must be a whole number above 0');
  const timeoutMs = parsePositiveDuration(timeout, 'wait.timeout');
  if (timeoutMs < limitMs) return new ConfirmedWrites(send, { replicas, timeoutMs });
  refuseOption('wait.timeout', timeout, 'it must be shorter than statementTimeout, which includes it');
}
