import assert from 'node:assert/strict';
import {
  currentRun,
  type CronlatchEvents,
  type JobConfiguration,
  type JobGuard,
  type TaskResult,
} from 'cronlatch';
import type { PostgresGuardOptions } from 'cronlatch/pg';
import type { EventName, Run } from 'cronlatch/provider';
import type { RunTransactionOptions } from 'cronlatch/typeorm';
import { askedDatabase, testOnKind, type AskedDatabase } from '../databases/asked';
import { makeEffect, type Queryable } from '../databases/effects';
import { DATABASE_NAMES, SERVER_NAMES, type DatabaseName, type ServerName } from '../databases/fresh';
import { onStores } from '../servers/test-on';
import type {
  Application,
  ApplicationOptions,
  Client,
  RunTransaction,
} from '../transaction-contract/application';
import { DRIVERS } from '../transaction-contract/drivers';
import { TYPEORM } from '../transaction-contract/typeorm';
import { closing } from './closing';

/** The libraries that have `inRunTransaction`. */
const CLIENTS: readonly Client[] = [TYPEORM, DRIVERS];

/** A job whose attempts may follow each other at once. */
export const JOB = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: () => 'today', timeZone: 'UTC', retry: { maxAttempts: 100, initialDelay: 0 } },
} as const satisfies JobConfiguration;

interface BenchOptions extends ApplicationOptions {
  readonly guard?: PostgresGuardOptions;
}

/**
 * An application whose job has effects in the database of its ledger, and an operator who reads both on a
 * separate connection.
 */
export class TransactionBench<App extends Application = Application> {
  readonly #events: { readonly name: EventName; readonly event: unknown }[] = [];

  private constructor(
    readonly database: AskedDatabase,
    readonly application: App,
    readonly guard: JobGuard,
    private readonly isSynchronous: boolean,
  ) {
    for (const name of ['run:completed', 'run:failed', 'guard:warning'] as const)
      guard.on(name, (event) => this.#events.push({ name, event }));
  }

  static async on<App extends Application>(
    client: Client<App>,
    database: AskedDatabase,
    { guard, ...options }: BenchOptions = {},
  ): Promise<TransactionBench<App>> {
    await database.createTables();
    await database.ask(
      'CREATE TABLE IF NOT EXISTS effect (run VARCHAR(64) NOT NULL, attempt INTEGER NOT NULL)',
    );
    const application = await client.open(database, options);
    const created = await application.createJobGuard({ pollInterval: false, logger: false, ...guard });
    return new TransactionBench(
      database,
      application,
      created,
      client.isSynchronousOn.includes(database.kind),
    );
  }

  /** One tick of the job. */
  run<T>(handler: () => T | PromiseLike<T>, more: Partial<JobConfiguration> = {}): Promise<TaskResult<T>> {
    return this.guard.run({ ...JOB, ...more }, handler);
  }

  /**
   * Writes the effect of the current run in a transaction that completes it.
   *
   * @param more is done in the transaction after that. What it returns is the result.
   */
  book<T>(
    more: (transaction: RunTransaction) => T | PromiseLike<T>,
    options?: RunTransactionOptions,
  ): Promise<T>;
  book(): Promise<void>;
  book(
    more: (transaction: RunTransaction) => unknown = () => {},
    options?: RunTransactionOptions,
  ): Promise<unknown> {
    return this.application.inRunTransaction((transaction) => {
      const written = this.effect(transaction);
      return this.isSynchronous ? more(transaction) : written.then(() => more(transaction));
    }, options);
  }

  /** One tick whose handler is such a transaction. */
  tick(
    more: (transaction: RunTransaction) => unknown = () => {},
    job: Partial<JobConfiguration> = {},
  ): Promise<unknown> {
    return this.run(() => this.book(more), job);
  }

  /** Tries to begin a transaction that must be rejected. */
  bookNothing(): Promise<never> {
    return this.application.inRunTransaction(() => assert.fail());
  }

  /** Writes the effect of the current run. */
  effect(where: Queryable): Promise<void> {
    return makeEffect(where, currentRun());
  }

  /** The attempts whose effects are committed. */
  async effects(): Promise<number[]> {
    const rows = await this.database.ask('SELECT attempt FROM effect ORDER BY run, attempt');
    return rows.map(({ attempt }) => Number(attempt));
  }

  async row(job: string = JOB.name): Promise<Run> {
    const run = await this.guard.ledger.last(job);
    assert.ok(run);
    return run;
  }

  /** The state of the run, and the attempts whose effects are committed. */
  async is(state: Run['state'], effects: readonly number[]): Promise<void> {
    assert.deepEqual([(await this.row()).state, await this.effects()], [state, effects]);
  }

  /** The attempts in the run's row. */
  async history(): Promise<string[]> {
    return (await this.guard.ledger.history(await this.row())).map(({ kind }) => kind);
  }

  /** Another process claims the run as its next attempt. */
  async seize(): Promise<void> {
    await this.write(`claimed_by = 'another process', attempt = attempt + 1`);
  }

  async write(assignments: string): Promise<void> {
    await this.database.ask(`UPDATE cronlatch_run SET ${assignments}`);
  }

  eventsOf<K extends EventName>(name: K): CronlatchEvents[K][] {
    return this.#events.filter((each) => each.name === name).map(({ event }) => event as CronlatchEvents[K]);
  }

  async close(): Promise<void> {
    await this.guard.close({ timeout: 0 });
    await this.application.close();
  }
}

/** A fresh database, and benches that a test opens on it. */
interface Place<App extends Application, Kind extends DatabaseName> {
  readonly kind: Kind;
  readonly database: AskedDatabase;
  readonly open: (options?: BenchOptions) => Promise<TransactionBench<App>>;
}

function testPlace<App extends Application, Kind extends DatabaseName>(
  client: Client<App>,
  name: string,
  body: (place: Place<App, Kind>) => Promise<void>,
  kind: Kind,
): void {
  testOnKind(kind, name, async () => {
    await using database = closing(await askedDatabase(kind));
    const benches: TransactionBench[] = [];
    const open = async (options?: BenchOptions): Promise<TransactionBench<App>> => {
      const bench = await TransactionBench.on(client, database, options);
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

type OfClient<App> = App extends Client<infer Own> ? Own : never;
type TypeOrmApplication = OfClient<typeof TYPEORM>;
type DriverApplication = OfClient<typeof DRIVERS>;
export type TypeOrmBench = TransactionBench<TypeOrmApplication>;
export type DriverBench = TransactionBench<DriverApplication>;

/** One test for each kind of database, or for the given kinds, with TypeORM. */
export function testTypeOrmTransactions(
  name: string,
  body: (bench: TypeOrmBench, kind: DatabaseName) => Promise<void>,
  { on = DATABASE_NAMES, ...options }: BenchOptions & { readonly on?: readonly DatabaseName[] } = {},
): void {
  onStores(on, name, (kind) =>
    testPlace(TYPEORM, name, async ({ open }) => body(await open(options), kind), kind),
  );
}

/** One test for each server, or for the given kinds, with its driver, and benches that it opens. */
export function testDriverTransactions<Kind extends DatabaseName = ServerName>(
  name: string,
  body: (place: Place<DriverApplication, Kind>) => Promise<void>,
  on: readonly Kind[] = SERVER_NAMES as readonly DatabaseName[] as readonly Kind[],
): void {
  onStores(on, name, (kind) => testPlace(DRIVERS, name, body, kind));
}

interface CaseOptions extends BenchOptions {
  readonly on?: readonly DatabaseName[];
  /** The work waits, which it cannot in a transaction of better-sqlite3. */
  readonly awaits?: true;
}

/** One test for each library that has `inRunTransaction`, and each kind of database. */
export function testTransactions(
  name: string,
  body: (bench: TransactionBench, kind: DatabaseName) => Promise<void>,
  { on = DATABASE_NAMES, awaits, ...options }: CaseOptions = {},
): void {
  for (const client of CLIENTS) {
    const kinds = on.filter((kind) => !(awaits && client.isSynchronousOn.includes(kind)));
    const test = `${client.prefix}${name}`;
    onStores(kinds, test, (kind) =>
      testPlace(client, test, async ({ open }) => body(await open(options), kind), kind),
    );
  }
}

/** The same for the servers, with benches that the test opens. */
export function testServerTransactions(
  name: string,
  body: (place: Place<Application, ServerName>) => Promise<void>,
): void {
  for (const client of CLIENTS) {
    const test = `${client.prefix}${name}`;
    onStores(SERVER_NAMES, test, (kind) => testPlace(client, test, body, kind));
  }
}
