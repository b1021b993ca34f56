import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { refused } from '../../support/checks/refused';

const AT_THREE = '0 3 * * *';
const TOKYO = { timeZone: 'Asia/Tokyo' };
const LIMA = { timeZone: 'America/Lima' };

// 03:00 in UTC: noon in Tokyo, and the evening before in Lima.
const IN_TOKYO = '2026-11-20';
const IN_LIMA = '2026-11-19';

let bench: GuardOfRuns;
beforeEach(() => void (bench = guardOfRuns()));
afterEach(() => bench.guard.close());

interface Job {
  job(): Promise<string | undefined>;
}

async function dateOf(instance: Job): Promise<string | undefined> {
  scheduleJobs(instance, { guard: bench.guard });
  return await instance.job();
}

const today = async (): Promise<string> => await Promise.resolve(currentRun().businessDate);

void test('the business day is in the zone of the schedule, regardless of the position of @Scheduled (L-59)', async () => {
  class Above {
    @Scheduled(AT_THREE, TOKYO)
    @OncePerDay()
    @SchedulerLock('above', '1m')
    async job(): Promise<string | undefined> {
      return await today();
    }
  }
  class Between {
    @OncePerDay()
    @Scheduled(AT_THREE, TOKYO)
    @SchedulerLock('between', '1m')
    async job(): Promise<string | undefined> {
      return await today();
    }
  }
  class Below {
    @SchedulerLock('below', '1m')
    @OncePerDay()
    @Scheduled(AT_THREE, TOKYO)
    async job(): Promise<string | undefined> {
      return await today();
    }
  }
  for (const instance of [new Above(), new Between(), new Below()])
    assert.equal(await dateOf(instance), IN_TOKYO);
});

void test('the job’s own zone takes precedence (L-59)', async () => {
  class Jobs {
    @Scheduled(AT_THREE, TOKYO)
    @OncePerDay(LIMA)
    @SchedulerLock('own-zone', '1m')
    async job(): Promise<string | undefined> {
      return await today();
    }
  }
  assert.equal(await dateOf(new Jobs()), IN_LIMA);
});

void test('the zone of the schedule takes precedence over the guard’s default, which applies without it', async () => {
  await bench.guard.close();
  bench = guardOfRuns({ defaultTimeZone: 'America/Lima' });
  class Jobs {
    @Scheduled(AT_THREE, TOKYO)
    @OncePerDay()
    @SchedulerLock('with-zone', '1m')
    async job(): Promise<string | undefined> {
      return await today();
    }
  }
  class WithoutZone {
    @Scheduled(AT_THREE)
    @OncePerDay()
    @SchedulerLock('without-zone', '1m')
    async job(): Promise<string | undefined> {
      return await today();
    }
  }
  assert.equal(await dateOf(new Jobs()), IN_TOKYO);
  assert.equal(await dateOf(new WithoutZone()), IN_LIMA);
});

void test('two schedules in the same zone have one zone', async () => {
  class Jobs {
    @Scheduled(AT_THREE, LIMA)
    @OncePerDay()
    @SchedulerLock('twice', '1m')
    @Scheduled('0 15 * * *', LIMA)
    async job(): Promise<string | undefined> {
      return await today();
    }
  }
  assert.equal(await dateOf(new Jobs()), IN_LIMA);
});

const noZone = (instance: object): void =>
  refused(() => scheduleJobs(instance, { guard: bench.guard }), 'Job ', 'needs a timeZone');

void test('two zones are rejected unless the job sets one, because the business day is ambiguous (L-59)', () => {
  class Jobs {
    @Scheduled(AT_THREE, TOKYO)
    @Scheduled(AT_THREE, LIMA)
    @OncePerDay()
    @SchedulerLock('two-zones', '1m')
    async job(): Promise<void> {}
  }
  noZone(new Jobs());
});

void test('a schedule in the host’s zone beside another zone counts as a second zone, in either order (L-59)', () => {
  class First {
    @Scheduled(AT_THREE)
    @Scheduled(AT_THREE, LIMA)
    @OncePerDay()
    @SchedulerLock('host-first', '1m')
    async job(): Promise<void> {}
  }
  class Last {
    @Scheduled(AT_THREE, LIMA)
    @Scheduled(AT_THREE)
    @OncePerDay()
    @SchedulerLock('host-last', '1m')
    async job(): Promise<void> {}
  }
  noZone(new First());
  noZone(new Last());
});

void test('without any zone the job is rejected instead of using the host’s zone (L-59)', () => {
  class Jobs {
    @Scheduled(AT_THREE)
    @OncePerDay()
    @SchedulerLock('no-zone', '1m')
    async job(): Promise<void> {}
  }
  noZone(new Jobs());
});
