import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A server that only one test uses, and may damage. */
export interface OwnServer {
  readonly url: string;
  readonly version: string;
  /** Of its process, if it is a private one that runs. */
  readonly pid?: number;
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Servers that elect a leader among them, used by only one test. */
export interface Ensemble {
  readonly version: string;
  readonly members: readonly OwnServer[];
  /** For clients: of the members, or of the sentinels. */
  readonly urls: readonly string[];
  /** Resolves when the majority agrees on one, and it answers. */
  leader(): Promise<OwnServer>;
  /** Resolves when there is a leader, and all others follow it. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export type EnsembleName = 'zookeeper' | 'etcd' | 'sentinel';

interface Servers {
  startServer(name: string, options: Options & { readonly args: readonly string[] }): Promise<OwnServer>;
  startRedisThatKeeps(options: Options): Promise<OwnServer>;
  startEnsemble(name: EnsembleName | 'galera', size: number, options: Options): Promise<Ensemble>;
  startPgbouncer(
    target: { readonly url: string; readonly mode: 'transaction' | 'statement' },
    options: Options,
  ): Promise<OwnServer>;
  startPgpool(options: Options): Promise<SplitServer>;
}

interface Options {
  readonly log: (line: string) => void;
}

/** @param args further arguments of its program */
export async function ownServer(name: string, args: readonly string[] = []): Promise<OwnServer> {
  return await (await servers()).startServer(name, { log: () => {}, args });
}

/** A Redis that keeps every answered write when it is killed. */
export async function ownRedisThatKeeps(): Promise<OwnServer> {
  return await (await servers()).startRedisThatKeeps({ log: () => {} });
}

/** Two MariaDB nodes that accept writes. Not every machine can get Galera. */
export async function galeraCluster(): Promise<Ensemble> {
  return await (await servers()).startEnsemble('galera', 2, { log: () => {} });
}

/** PgBouncer in front of this PostgreSQL server. Not every machine can get it. */
export async function pgbouncerBefore(url: string, mode: 'transaction' | 'statement'): Promise<OwnServer> {
  return await (await servers()).startPgbouncer({ url, mode }, { log: () => {} });
}

/** A PostgreSQL server, and Pgpool-II before it and before a standby of it, which answers plain SELECTs. */
export interface SplitServer {
  /** Of Pgpool-II. */
  readonly url: string;
  /** Of the server itself. */
  readonly primary: string;
  stop(): Promise<void>;
}

/** Not every machine can get it. */
export async function pgpoolServer(): Promise<SplitServer> {
  return await (await servers()).startPgpool({ log: () => {} });
}

/** Three of them, of which any two are a majority. */
export async function ensembleOf(name: EnsembleName): Promise<Ensemble> {
  return await (await servers()).startEnsemble(name, 3, { log: () => {} });
}

async function servers(): Promise<Servers> {
  return (await import(pathToFileURL(resolve('test/support/servers/index.mjs')).href)) as Servers;
}
