import assert from 'node:assert/strict';
import { NestFactory } from '@nestjs/core';
import { JobGuard } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { CronlatchModule } from 'cronlatch/nestjs';

class Application {}

export async function use() {
  const guard = new JobGuard({ lockProvider: new InMemoryLockProvider() });
  const root = { module: Application, imports: [CronlatchModule.forRoot({ guard })] };
  const context = await NestFactory.createApplicationContext(root, { logger: false });
  assert.equal(context.get(JobGuard), guard);
  await context.close();
}
