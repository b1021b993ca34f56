import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { currentLock, currentRun, OncePer, OncePerDay, SchedulerLock } from 'cronlatch';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';

const HOUR = 3_600_000;

class Jobs {
  constructor(protected readonly label = 'base') {}

  @OncePerDay({ timeZone: 'Europe/Paris' })
  @SchedulerLock('above', '10m')
  async above(): Promise<string | undefined> {
    return await Promise.resolve(`${this.label} ${currentRun().job}`);
  }

  @SchedulerLock('below', '10m')
  @OncePerDay({ timeZone: 'Europe/Paris' })
  async below(): Promise<string | undefined> {
    return await Promise.resolve(`${this.label} ${currentRun().job}`);
  }

  @OncePerDay({ name: 'alone', timeZone: 'Europe/Paris' })
  async alone(): Promise<string | undefined> {
    return await Promise.resolve(currentLock().name);
  }

  @OncePerDay({ name: 'ledger-name', timeZone: 'Europe/Paris' })
  @SchedulerLock('lock-name', '10m')
  async named(): Promise<unknown> {
    return await Promise.resolve([currentLock().name, currentRun().job]);
  }

  @OncePer('hour', { name: 'hourly', timeZone: 'UTC' })
  async hourly(): Promise<string | undefined> {
    return await Promise.resolve(currentRun().periodKey);
  }

  @OncePer((at) => `release-${at.getUTCFullYear()}`, { name: 'custom', timeZone: 'UTC' })
  async custom(): Promise<string | undefined> {
    return await Promise.resolve(currentRun().periodKey);
  }

  @OncePerDay({
    name: 'tenants',
    timeZone: 'UTC',
    scope: (tenant: string) => tenant,
    resume: (run) => [run.scope],
  })
  async perTenant(tenant: string): Promise<string | undefined> {
    return await Promise.resolve(`${tenant}: ${currentRun().idempotencyKey}`);
  }
}

let bench: TestGuard;
beforeEach(() => {
  bench = useTestGuard({ now: '2026-11-20T03:00:00Z', defaultLockAtMostFor: '5m' });
});
afterEach(() => bench.dispose());

for (const order of ['above', 'below'] as const) {
  void test(`once per day ${order} the lock: its name is the job's, and it runs once (L-59)`, async () => {
    const jobs = new Jobs();
    assert.equal(await jobs[order](), `base ${order}`);
    assert.equal(await jobs[order](), undefined);
    assert.equal(await new Jobs('another')[order](), undefined);
    bench.clock.advance('1d');
    assert.equal(await jobs[order](), `base ${order}`);
  });

  void test(`with the lock ${order}: while another instance holds it, nothing runs and nothing is recorded (L-59)`, async () => {
    await bench.lockProvider.lock({ name: order, lockAtMostFor: '1h' });
    assert.equal(await new Jobs()[order](), undefined);
    assert.equal(await bench.guard.ledger.last(order), undefined);
  });
}

void test('without a lock it has a lock of its own name, for the default duration of the guard, kept alive (L-59)', async () => {
  const acquired = bench.next('lock:acquired');
  const extended = bench.next('lock:extended');
  const remaining = bench.guard.wrap({ name: 'other', oncePer: { period: 'day', timeZone: 'UTC' } }, () =>
    currentLock().remainingMs(),
  );
  assert.equal(await new Jobs().alone(), 'alone');
  assert.equal((await acquired).name, 'alone');
  assert.equal(await remaining(), 300_000);
  class Slow {
    @OncePerDay({ name: 'slow', timeZone: 'UTC' })
    async job(): Promise<boolean | undefined> {
      bench.clock.advance('100s');
      await extended;
      bench.clock.advance('100s');
      await bench.next('lock:extended');
      bench.clock.advance('100s');
      await bench.next('lock:extended');
      return currentLock().signal.aborted;
    }
  }
  assert.equal(await new Slow().job(), false);
  assert.equal((await extended).lockAtMostForMs, 300_000);
});

void test("the ledger uses the job's own name if it has one beside the name of its lock", async () => {
  assert.deepEqual(await new Jobs().named(), ['lock-name', 'ledger-name']);
  assert.equal((await bench.guard.ledger.last('ledger-name'))?.state, 'completed');
  assert.equal(await bench.guard.ledger.last('lock-name'), undefined);
});

void test('other periods, and custom keys', async () => {
  const jobs = new Jobs();
  assert.equal(await jobs.hourly(), '2026-11-20T03+0000');
  bench.clock.advance(HOUR - 1);
  assert.equal(await jobs.hourly(), undefined);
  bench.clock.advance(1);
  assert.equal(await jobs.hourly(), '2026-11-20T04+0000');
  assert.equal(await jobs.custom(), 'release-2026');
  assert.equal(await jobs.custom(), undefined);
});

void test('a scope from the arguments: once per day for each scope', async () => {
  const jobs = new Jobs();
  assert.equal(await jobs.perTenant('acme'), 'acme: tenants/acme/2026-11-20/0');
  assert.equal(await jobs.perTenant('globex'), 'globex: tenants/globex/2026-11-20/0');
  assert.equal(await jobs.perTenant('acme'), undefined);
});

class SameJob extends Jobs {
  @OncePerDay({ timeZone: 'Europe/Paris' })
  @SchedulerLock('above', '10m')
  override async above(): Promise<string | undefined> {
    return `sub of ${await super.above()}, ${currentRun().attempt}`;
  }
}

class Unguarded extends Jobs {
  override async above(): Promise<string | undefined> {
    return await Promise.resolve('no lock');
  }
}

void test('an inherited method is the same job, on its own instance (L-59)', async () => {
  class Inheriting extends Jobs {}
  assert.equal(await new Inheriting('heir').below(), 'heir below');
  assert.equal(await new Jobs().below(), undefined);
});

void test('an override and the method that it calls with super are one run (L-59)', async () => {
  const acquired: string[] = [];
  bench.guard.on('lock:acquired', ({ name }) => void acquired.push(name));
  assert.equal(await new SameJob().above(), 'sub of base above, 1');
  assert.deepEqual(acquired, ['above']);
  assert.equal((await bench.guard.ledger.list({ job: 'above' })).length, 1);
  assert.equal(await new SameJob().above(), undefined);
});

void test('an override without decorators has neither lock nor ledger (L-59)', async () => {
  assert.equal(await new Unguarded().above(), 'no lock');
  assert.equal(await new Unguarded().above(), 'no lock');
  assert.equal(await bench.guard.ledger.last('above'), undefined);
});
