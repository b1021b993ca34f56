import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // SIGTERM waits for running jobs, and releases their locks.
  await app.listen(process.env['PORT'] ?? 3000);
}

void main();
