import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { currentLock, JobGuard } from 'cronlatch';
import { systemClock } from 'cronlatch/provider';
import { RedisLockProvider } from 'cronlatch/redis';
import { eventually } from '../../support/clocks/eventually';
import { urlOn } from '../../support/servers/running';
import { testOn } from '../../support/servers/test-on';

export const LEASE_MS = 1500;
const MINUTE_MS = 60_000;

type Task = (token: number | undefined) => Promise<unknown>;

/** Runs a task under a lock, if the lock is free, and resolves to whether it ran. */
export type Run = (name: string, task: Task) => Promise<boolean>;

/** One process: its connection, and its way to run a task under a lock. */
interface Instance {
  readonly redis: Redis;
  readonly run: Run;
}

type Instances = readonly [Instance, Instance, Instance];

export interface Session {
  readonly redis: Redis;
  /** All keys of this test begin with it. */
  readonly prefix: string;
  readonly instance: number;
  /** The clock of each instance is a minute ahead of the previous one's. */
  readonly nowMs: () => number;
}

export interface RedisTrap {
  /** The lock that is written by hand, in one instance. */
  readonly byHand: (session: Session) => Run;
  /** Holds for our locks, and for the lock that is written by hand fails with the message `failure`. */
  readonly property: (instances: Instances) => Promise<void>;
  readonly failure: string;
  /** What an earlier process left in the key of the lock that is written by hand. */
  readonly leftByHand?: string;
  /** Whether our holders renew their leases. */
  readonly keepAlive?: true;
}

export function testRedisTrap(name: string, trap: RedisTrap): void {
  const { byHand, property, failure, leftByHand, keepAlive } = trap;
  testOn('redis', `${name}: written by hand, it fails`, () =>
    withInstances(byHand, async (instances, prefix) => {
      if (leftByHand !== undefined) await instances[0].redis.set(`${prefix}goods`, leftByHand);
      await assert.rejects(property(instances), { name: 'AssertionError', message: failure });
    }),
  );
  testOn('redis', `${name}: RedisLockProvider holds`, () =>
    withInstances((session) => guarded(session, keepAlive ?? false), property),
  );
}

/** A promise that the test resolves. */
export class Gate {
  open = (): void => {};
  readonly isOpen = new Promise<void>((resolve) => (this.open = resolve));
}

function guarded({ redis: client, prefix, nowMs }: Session, keepAlive: boolean): Run {
  const clock = { ...systemClock, wallMs: nowMs };
  const lockProvider = new RedisLockProvider({ id: prefix, client, keyPrefix: prefix, clock });
  const guard = new JobGuard({ lockProvider, logger: false });
  return async (name, task) => {
    const configuration = { name, lockAtMostFor: LEASE_MS, keepAlive };
    const { executed } = await guard.run(configuration, () => task(currentLock().fencingToken));
    return executed;
  };
}

async function withInstances(
  open: (session: Session) => Run,
  body: (instances: Instances, prefix: string) => Promise<void>,
): Promise<void> {
  const prefix = `trap:${randomUUID()}:`;
  const connect = (instance: number): Instance => {
    const redis = new Redis(urlOn('redis'));
    const nowMs = (): number => Date.now() + instance * MINUTE_MS;
    return { redis, run: open({ redis, prefix, instance, nowMs }) };
  };
  const instances = [connect(0), connect(1), connect(2)] as const;
  try {
    await body(instances, prefix);
  } finally {
    for (const { redis } of instances) redis.disconnect();
  }
}

/**
 * Tries until the lock of the goods is granted. Resolves when the task runs, which by default never ends.
 *
 * @returns a function that waits until the lock was released
 */
export async function start(
  { run }: Instance,
  task: Task = () => new Promise(() => {}),
): Promise<() => Promise<void>> {
  let isRunning = false;
  let attempt: Promise<boolean> | undefined;
  let released: Promise<boolean> | undefined;
  const watched: Task = (token) => {
    isRunning = true;
    released = attempt;
    return task(token);
  };
  await eventually(
    () => {
      attempt ??= run('goods', watched).finally(() => (attempt = undefined));
      return isRunning;
    },
    'the lock is granted',
    10_000,
  );
  return async () => assert.equal(await released, true);
}

/** Whether another instance gets the lock of the goods now. */
export function isGranted({ run }: Instance, name = 'goods'): Promise<boolean> {
  return run(name, () => Promise.resolve());
}
