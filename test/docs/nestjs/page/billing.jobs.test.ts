import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Test } from '@nestjs/testing';
import { JobGuard } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import { useTestGuard } from 'cronlatch/testing';
import { BillingJobs } from './billing.jobs';

void test('each day is closed once', async () => {
  await using bench = useTestGuard({ now: '2026-11-20T03:00:00+01:00' });
  const builder = Test.createTestingModule({
    imports: [CronlatchModule.forRoot()],
    providers: [BillingJobs],
  });
  const app = await builder.overrideProvider(JobGuard).useValue(bench.guard).compile();
  await app.init(); // Connects the jobs to their guard.
  const jobs = app.get(BillingJobs);

  assert.equal(await jobs.closeDay(), '2026-11-20');
  assert.equal(await jobs.closeDay(), undefined);
  bench.clock.advance('1d');
  assert.equal(await jobs.closeDay(), '2026-11-21');

  await app.close();
});
