import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { CronlatchModule } from 'cronlatch/nestjs';
import { Config, ReportJobs } from '../../docs/nestjs/page/report.jobs';
import { guardBench } from '../../support/benches/guard';
import { application } from './application';

/** Like ConfigService of @nestjs/config, it has its values when the application starts. */
class Settings extends Config {
  constructor(private readonly values: Readonly<Record<string, string>>) {
    super();
  }

  override getOrThrow(key: string): string {
    const value = this.values[key];
    if (value === undefined) throw new TypeError(`Configuration key "${key}" does not exist`);
    return value;
  }
}

function metadata(values: Readonly<Record<string, string>>, guard = guardBench().guard): ModuleMetadata {
  const config = { provide: Config, useFactory: async () => Promise.resolve(new Settings(values)) };
  return {
    imports: [ScheduleModule.forRoot(), CronlatchModule.forRoot({ guard })],
    providers: [ReportJobs, config],
  };
}

void test('a lock has the time that an injected provider of its class returns', async () => {
  const app = await application(metadata({ REPORT_LIMIT: '7m' }));
  await app.init();
  assert.equal(await app.get(ReportJobs).sendReport(), 420_000);
  await app.close();
});

void test('a setting that is missing stops the start of the application', async () => {
  const { guard } = guardBench();
  const app = await application(metadata({}, guard));
  await assert.rejects(app.init(), {
    name: 'InvalidLockConfigurationError',
    message: /^lockAtMostFor of job 'send-report' threw an error/,
    cause: new TypeError('Configuration key "REPORT_LIMIT" does not exist'),
  });
  assert.equal(guard.isClosing, true);
});
