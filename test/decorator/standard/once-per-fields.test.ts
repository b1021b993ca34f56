import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { currentRun, InvalidLockUseError, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';

const UTC = { timeZone: 'UTC' } as const;
const run = async (): Promise<string | undefined> => await Promise.resolve(currentRun().businessDate);

class Jobs {
  constructor(readonly label: string) {}

  @OncePerDay(UTC)
  @SchedulerLock('above', '1m')
  readonly above = async (): Promise<string | undefined> => `${this.label} ${await run()}`;

  @SchedulerLock('below', '1m')
  @OncePerDay(UTC)
  readonly below = async (): Promise<string | undefined> => `${this.label} ${await run()}`;

  @Scheduled('0 3 * * *', { timeZone: 'Asia/Tokyo' })
  @SchedulerLock('scheduled', '1m')
  @OncePerDay()
  readonly scheduled = async (): Promise<string | undefined> => await run();

  @OncePerDay({ ...UTC, name: 'private' })
  async #hidden(): Promise<string | undefined> {
    return await run();
  }

  async hidden(): Promise<string | undefined> {
    return await this.#hidden();
  }
}

let bench: TestGuard;
beforeEach(() => {
  bench = useTestGuard({ now: '2026-11-20T18:00:00Z', defaultLockAtMostFor: '1m' });
});
afterEach(() => bench.dispose());

for (const order of ['above', 'below'] as const) {
  void test(`a field that holds a function runs once per day, with its lock ${order} (L-59)`, async () => {
    assert.equal(await new Jobs('Ada')[order](), 'Ada 2026-11-20');
    assert.equal(await new Jobs('Bob')[order](), undefined);
  });
}

void test('a scheduled field uses the time zone of its schedule (L-59)', async () => {
  const jobs = new Jobs('Ada');
  scheduleJobs(jobs, { guard: bench.guard });
  assert.equal(await jobs.scheduled(), '2026-11-21');
});

void test('a private method runs once per day', async () => {
  assert.equal(await new Jobs('Ada').hidden(), '2026-11-20');
  assert.equal(await new Jobs('Ada').hidden(), undefined);
});

void test('a field that is once per period twice is refused when an instance is created (L-59)', () => {
  class Twice {
    @OncePerDay(UTC)
    @SchedulerLock('twice', '1m')
    @OncePerDay(UTC)
    readonly job = async (): Promise<void> => {};
  }
  assert.throws(() => new Twice(), InvalidLockUseError);
});
