import assert from 'node:assert/strict';
import type { RowLockProviderOptions } from 'cronlatch/typeorm';
import { RowLockProvider } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import type { SqlDatabase } from '#cronlatch/storage/sql/connections/sql-database';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../databases/fresh';
import { Stranger } from '../databases/stranger';
import type { ServerDatabase } from '../databases/types';
import { throughProxy } from '../faults/tcp-proxy';
import { rowLockDataSource } from '../stores/row-lock-places';
import { closing } from './closing';

export const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;

/** A database with a table of row locks, and the providers of several instances of an application. */
export class RowLocks {
  readonly stranger: Stranger;
  readonly #providers: RowLockProvider[] = [];

  private constructor(
    readonly server: ServerName,
    readonly database: Omit<ServerDatabase<unknown>, 'root'>,
  ) {
    this.stranger = new Stranger(server, database);
  }

  static async on(server: ServerName): Promise<RowLocks> {
    const database = await databaseOn(server);
    const dataSource = await rowLockDataSource(database);
    await dataSource.destroy();
    return new RowLocks(server, database);
  }

  provider(options: RowLockProviderOptions = {}, proxy?: { readonly port: number }): RowLockProvider {
    const url = proxy ? throughProxy(this.database.url, proxy) : this.database.url;
    const provider = new RowLockProvider(new DataSource({ type: this.server, url }), options);
    this.#providers.push(provider);
    return provider;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#providers.map((provider) => provider.close()));
    await this.database.dispose();
  }
}

/** A test on every server, with a fresh database each. */
export function testRowLocks(
  name: string,
  body: (locks: RowLocks) => Promise<void>,
  servers: readonly ServerName[] = SERVER_NAMES,
): void {
  for (const server of servers)
    testOn(server, name, async () => {
      await using locks = closing(await RowLocks.on(server));
      await body(locks);
    });
}

/** Resolves with the reason when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<Error> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return signal.reason as Error;
}

/** The same database. Calls the function with the text of each statement before it is sent. */
export function onSending(database: SqlDatabase, call: (text: string) => void): SqlDatabase {
  const { sessions } = database;
  assert.ok(sessions);
  const open: typeof sessions.open = async (limitMs) => {
    const opening = await sessions.open(limitMs);
    const { session } = opening;
    const send = session.send.bind(session);
    session.send = async (statement, options) => {
      call(statement.text);
      return await send(statement, options);
    };
    return opening;
  };
  return { ...database, sessions: { ...sessions, open } };
}
