import { randomBytes } from 'node:crypto';
import type { DataSourceOptions } from 'typeorm';

/** A fresh database of a test's own. */
export interface TestDatabase {
  /** The connection options of an application. */
  readonly options: DataSourceOptions;
  /** The environment with which `ormconfig.ts` connects to it. */
  readonly environment: Record<string, string>;
  dispose(): Promise<void>;
}

/** Options that the administrator's connections to all kinds of servers have in common. */
export interface Administrator {
  query(text: string): Promise<unknown>;
}

/** A database on a server. */
export interface ServerDatabase<Connection> extends TestDatabase {
  readonly name: string;
  readonly url: string;
  /** A connection of the test's own to it, as the server's administrator. */
  readonly root: Connection;
  /** Runs one statement on that connection. */
  readonly ask: (statement: string) => Promise<Record<string, unknown>[]>;
}

export function freshName(): string {
  return `cronlatch_${randomBytes(6).toString('hex')}`;
}
