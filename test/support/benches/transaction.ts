import assert from 'node:assert/strict';
import type { CronlatchEvents, JobConfiguration, JobGuard, TaskResult } from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import type { Run } from 'cronlatch/provider';
import { currentRun } from 'cronlatch';
import { createJobGuard, type CreateJobGuardOptions } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { createEffectTable, effectsIn, makeEffect, type Queryable } from '../databases/effects';
import {
  DATABASE_NAMES,
  databaseOn,
  SERVER_NAMES,
  testOn,
  testWith,
  type DatabaseName,
  type ServerName,
  type TestDatabase,
} from '../databases/fresh';
import { ledgerDataSource } from '../databases/run-tables';
import type { ServerDatabase } from '../databases/types';
import { onStores } from '../servers/test-on';
import { closing } from './closing';

/** A job whose attempts may follow each other at once. */
export const JOB = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: () => 'today', timeZone: 'UTC', retry: { maxAttempts: 100, initialDelay: 0 } },
} as const satisfies JobConfiguration;

const KEY = { job: JOB.name, periodKey: 'today' };

interface BenchOptions {
  /** For all DataSources. */
  readonly everywhere?: object;
  /** For the application's DataSource. */
  readonly application?: object;
  readonly guard?: CreateJobGuardOptions;
}

/**
 * An application whose job has effects in the database of its ledger, and an operator who reads both on
 * separate connections.
 */
export class TransactionBench {
  readonly #events: { readonly name: EventName; readonly event: unknown }[] = [];

  private constructor(
    /** Its connections are its own. */
    readonly operator: DataSource,
    readonly application: DataSource,
    readonly guard: JobGuard,
  ) {
    for (const name of ['run:completed', 'run:failed', 'guard:warning'] as const)
      guard.on(name, (event) => this.#events.push({ name, event }));
  }

  static async on(
    database: TestDatabase,
    { everywhere, application, guard }: BenchOptions = {},
  ): Promise<TransactionBench> {
    const operator = await ledgerDataSource(database, everywhere);
    await createEffectTable(operator);
    const dataSource = await new DataSource({
      ...database.options,
      ...everywhere,
      ...application,
    }).initialize();
    const options = { pollInterval: false, logger: false, ...guard } as const;
    return new TransactionBench(operator, dataSource, await createJobGuard(dataSource, options));
  }

  /** One tick of the job. */
  run<T>(handler: () => T | PromiseLike<T>, more: Partial<JobConfiguration> = {}): Promise<TaskResult<T>> {
    return this.guard.run({ ...JOB, ...more }, handler);
  }

  /** Writes the effect of the current run. */
  effect(where: Queryable): Promise<void> {
    return makeEffect(where, currentRun());
  }

  /** The attempts whose effects are committed. */
  async effects(): Promise<number[]> {
    return (await effectsIn(this.operator)).map(({ attempt }) => attempt);
  }

  async row(): Promise<Run> {
    const run = await this.guard.ledger.get(KEY);
    assert.ok(run);
    return run;
  }

  /** The attempts in the run's row. */
  async history(): Promise<string[]> {
    return (await this.guard.ledger.history(KEY)).map(({ kind }) => kind);
  }

  /** Another process claims the run as its next attempt. */
  async seize(): Promise<void> {
    await this.write(`claimed_by = 'another process', attempt = attempt + 1`);
  }

  async write(assignments: string): Promise<void> {
    await this.operator.query(`UPDATE cronlatch_run SET ${assignments}`);
  }

  eventsOf<K extends EventName>(name: K): CronlatchEvents[K][] {
    return this.#events.filter((each) => each.name === name).map(({ event }) => event as CronlatchEvents[K]);
  }

  async close(): Promise<void> {
    await this.guard.close({ timeout: 0 });
    for (const each of [this.application, this.operator]) if (each.isInitialized) await each.destroy();
  }
}

/** One test for each kind of database, or for the given kinds. */
export function testTransactions(
  name: string,
  body: (bench: TransactionBench, database: DatabaseName) => Promise<void>,
  { on = DATABASE_NAMES, ...options }: BenchOptions & { readonly on?: readonly DatabaseName[] } = {},
): void {
  onStores(on, name, (kind) =>
    testWith(kind, name, async (database) => {
      await using bench = closing(await TransactionBench.on(database, options));
      await body(bench, kind);
    }),
  );
}

/** A server, and benches that a test opens on it. */
interface BenchesOn<Bench, Options> {
  readonly kind: ServerName;
  readonly database: ServerDatabase<unknown>;
  readonly open: (options?: Options) => Promise<Bench>;
}

/** The same for the servers, with a connection to the server that the test chooses. */
export function testServerTransactions(
  name: string,
  body: (server: BenchesOn<TransactionBench, BenchOptions>) => Promise<void>,
  on?: readonly ServerName[],
): void {
  testBenches(name, (_, ...at) => TransactionBench.on(...at), body, on);
}

export function testBenches<Bench extends { close(): Promise<void> }, Options>(
  name: string,
  openOn: (kind: ServerName, database: ServerDatabase<unknown>, options?: Options) => Promise<Bench>,
  body: (server: BenchesOn<Bench, Options>) => Promise<void>,
  on: readonly ServerName[] = SERVER_NAMES,
): void {
  for (const kind of on) {
    testOn(kind, name, async () => {
      await using database = closing(await databaseOn(kind));
      const benches: Bench[] = [];
      const open = async (options?: Options): Promise<Bench> => {
        const bench = await openOn(kind, database, options);
        benches.push(bench);
        return bench;
      };
      try {
        await body({ kind, database, open });
      } finally {
        for (const bench of benches) await bench.close();
      }
    });
  }
}
