import 'reflect-metadata';
import type { LoggerService, ModuleMetadata } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { JobGuard } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import type { TestDatabase } from '../../support/databases/fresh';

/** The messages to Nest's loggers: the level, the context and the first line. */
export class RecordingLogger implements LoggerService {
  readonly lines: string[] = [];
  readonly log = (): void => {};
  readonly warn = this.#record('warn');
  readonly error = this.#record('error');
  readonly fatal = this.#record('fatal');

  #record(level: string) {
    return (message: unknown, ...more: unknown[]): void => {
      const [first] = String(message).split('\n');
      this.lines.push(`${level} [${String(more.at(-1))}] ${first}`);
    };
  }
}

/**
 * Like one that calls `enableShutdownHooks`, each of these applications runs in a process that listens to
 * SIGTERM.
 */
export const onSigterm = (): never => process.exit(143);
process.on('SIGTERM', onSigterm);

/** An application that has not started yet. */
export async function application(metadata: ModuleMetadata, logger = new RecordingLogger()) {
  const builder = Test.createTestingModule(metadata).setLogger(logger);
  return await builder.compile();
}

/**
 * Starts an application with these jobs, this guard and @nestjs/schedule. The application closes the guard
 * when it closes.
 */
export async function startWith(
  guard: JobGuard,
  providers: ModuleMetadata['providers'] = [],
  logger = new RecordingLogger(),
): Promise<TestingModule> {
  const app = await application(
    { imports: [ScheduleModule.forRoot(), CronlatchModule.forRoot({ guard })], providers },
    logger,
  );
  return await app.init();
}

/** The application's database, with the tables of locks and runs. */
export function databaseModule({ options }: TestDatabase, more: object = {}) {
  return TypeOrmModule.forRoot({
    ...options,
    migrations: [createCronlatchMigration()],
    migrationsRun: true,
    retryAttempts: 1,
    ...more,
  });
}

export function cronJobs(app: TestingModule) {
  return app.get(SchedulerRegistry).getCronJobs();
}
