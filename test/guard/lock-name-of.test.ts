import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { configureJobGuard, currentLock, OncePerDay, SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { signal } from '../support/benches/executor';
import { guardBench } from '../support/benches/guard';
import { guardOfRuns } from '../support/benches/guard-of-runs';

class Orders {
  @SchedulerLock({ name: (orderId: string) => `order-${orderId}`, lockAtMostFor: '1m' })
  async ship(orderId: string, until: Promise<unknown> = Promise.resolve()): Promise<string | undefined> {
    await until;
    return `${orderId} under ${currentLock().name}`;
  }
}

const never = (): never => assert.fail('ran');
afterEach(() => configureJobGuard(undefined));

void test('the name of the lock depends on the arguments, so only calls with the same name exclude each other', async () => {
  const { guard, other } = guardBench();
  configureJobGuard(guard);
  const orders = new Orders();
  const end = signal();
  const first = orders.ship('1', end.promise);
  assert.equal(await orders.ship('2'), '2 under order-2');
  assert.equal(await orders.ship('1'), undefined);
  end.resolve();
  assert.equal(await first, '1 under order-1');
  await other.lock({ name: 'order-3', lockAtMostFor: '1m' });
  assert.equal(await orders.ship('3'), undefined);
});

void test('a wrapped function takes the name from its arguments, too', async () => {
  const { guard, emitted } = guardBench();
  const ship = guard.wrap(
    { name: (orderId: string) => `order-${orderId}`, lockAtMostFor: '1m' },
    (orderId: string) => orderId,
  );
  guard.on('tick', (event) => void emitted.push(['tick', event]));
  assert.equal(await ship('7'), '7');
  assert.deepEqual(
    emitted.map(([, event]) => 'name' in event && event.name),
    emitted.map(() => 'order-7'),
  );
});

void test('every event of a call has the label as its job, also if a lock was not granted', async () => {
  const { guard, emitted, other } = guardBench();
  const ship = guard.wrap(
    { name: (orderId: string) => `order-${orderId}`, label: 'ship', lockAtMostFor: '1m' },
    (orderId: string) => orderId,
  );
  await other.lock({ name: 'order-8', lockAtMostFor: '1m' });
  guard.on('tick', (event) => void emitted.push(['tick', event]));
  assert.deepEqual([await ship('7'), await ship('8')], ['7', undefined]);
  assert.deepEqual(
    emitted.map(([name, event]) => [name, 'job' in event && event.job]),
    [
      ...['lock:acquired', 'run:started', 'run:completed', 'lock:released', 'tick'],
      ...['lock:skipped', 'tick'],
    ].map((name) => [name, 'ship']),
  );
});

void test('a lock that no job has requested has no job in its events', async () => {
  const { guard, emitted } = guardBench();
  await guard.lockManager().withLock({ name: 'order-7', lockAtMostFor: '1m' }, () => {});
  assert.deepEqual(
    emitted.map(([name, event]) => [name, 'job' in event]),
    [
      ['lock:acquired', false],
      ['lock:released', false],
    ],
  );
});

for (const [what, name, message] of [
  [
    'an invalid name',
    () => ' order',
    / returned " order", so the job did not run\. " order" cannot be the name of a lock: it begins or ends with white space\.$/,
  ],
  ['too long a name', () => 'n'.repeat(65), / it has 65 characters, more than 64/],
  [
    'no name',
    () => undefined as unknown as string,
    / returned undefined, so the job did not run\. .* it must be a string\.$/,
  ],
] as const) {
  void test(`if the function returns ${what}, the job does not run, and the error names the job and the value`, async () => {
    const { guard, emitted } = guardBench();
    const job = { name, label: 'ship-order', lockAtMostFor: '1m' };
    await assert.rejects(guard.wrap(job, never, { onError: 'throw' })(), (error) => {
      assert.ok(error instanceof Error);
      assert.equal(error.name, 'InvalidLockConfigurationError');
      assert.match(error.message, /^The name function of job 'ship-order' returned /);
      assert.match(error.message, message);
      return true;
    });
    const [[event, payload] = []] = emitted;
    assert.equal(event, 'lock:failed');
    const { name: reported, willRetry } = payload as CronlatchEvents['lock:failed'];
    assert.deepEqual([reported, willRetry], ['ship-order', false]);
  });
}

void test('if the function throws, the job does not run, and the error keeps the cause', async () => {
  const { guard, names } = guardBench();
  configureJobGuard(guard);
  const cause = new TypeError('no order');
  class Failing {
    @SchedulerLock({
      name: () => {
        throw cause;
      },
      lockAtMostFor: '1m',
    })
    async ship(): Promise<void> {
      await Promise.resolve(never());
    }
  }
  await assert.rejects(new Failing().ship(), {
    name: 'InvalidLockConfigurationError',
    message:
      "The name function of job 'ship' threw an error, so the job did not run. It must return a name for every call.",
    cause,
  });
  assert.deepEqual(names(), ['lock:failed']);
});

void test('a once-per job with a name function is refused, and the error names scope', () => {
  const { guard } = guardOfRuns();
  class Jobs {
    @SchedulerLock({ name: (tenant: string) => tenant, lockAtMostFor: '1m' })
    @OncePerDay({ timeZone: 'UTC' })
    async report(tenant: string): Promise<string | undefined> {
      return await Promise.resolve(tenant);
    }
  }
  assert.throws(() => configureJobGuard(guard), {
    name: 'InvalidLockConfigurationError',
    message: /^Job 'report' runs once per period, so its name cannot be a function\. .* use scope/,
  });
  const job = { name: () => 'job', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } };
  assert.throws(() => guard.wrap(job as never, never), /so its name cannot be a function/);
  assert.ok(Jobs);
});

void test('the other options are checked at once, and an invalid label is refused', () => {
  const name = (): string => 'job';
  assert.throws(
    () => SchedulerLock({ name, lockAtMostFor: 'soon' }),
    /lockAtMostFor of lock '@SchedulerLock'/,
  );
  assert.throws(() => SchedulerLock({ name, label: ' x' }), /" x" cannot be the name of a lock/);
  assert.throws(
    () => guardBench().guard.wrap({ name, label: 'ship-order' }, never),
    /lockAtMostFor of lock 'ship-order' is missing/,
  );
});

void test('a name function keeps the guard’s name length and the other options of its lock', async () => {
  const { guard } = guardBench({ defaultLockAtMostFor: '2m' });
  const ship = guard.wrap({ name: (id: string) => `order-${id}`, lockAtLeastFor: '1m' }, () =>
    currentLock().remainingMs(),
  );
  assert.equal(await ship('1'), 120_000);
});
