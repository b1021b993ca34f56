import { readFileSync } from 'node:fs';

/** What a user imports: `cronlatch`, `cronlatch/typeorm` … */
export interface Subpath {
  readonly specifier: string;
  /** As in `package.json`: `.`, `./typeorm` … */
  readonly key: string;
  /** The packages that an application must have to import the subpath. */
  readonly peers: readonly string[];
  /** Further packages that its declarations import. */
  readonly typePeers: readonly string[];
}

type Needs = Partial<Pick<Subpath, 'peers' | 'typePeers'>>;

/** A subpath without an entry needs no package. */
const NEEDS: Readonly<Record<string, Needs>> = {
  './typeorm': { peers: ['typeorm'] },
  './mysql2': { peers: ['mysql2'] },
  './pg': { peers: ['pg'], typePeers: ['@types/pg'] },
  './better-sqlite3': { peers: ['better-sqlite3'], typePeers: ['@types/better-sqlite3'] },
  './node-cron': { peers: ['node-cron'] },
  './observability': { peers: ['@opentelemetry/api'] },
  './nestjs': {
    peers: ['@nestjs/common', '@nestjs/core', '@nestjs/schedule', 'reflect-metadata'],
    // Its options may hold a DataSource; with a guard created without TypeORM it runs without TypeORM.
    typePeers: ['typeorm'],
  },
  './zookeeper': { typePeers: ['@types/node'] },
  './etcd': { typePeers: ['@types/node'] },
  './dashboard': { typePeers: ['@types/node'] },
};

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, unknown>>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** All that the package exports: a new subpath is tried in every kind of project without an entry here. */
export const SUBPATHS: readonly Subpath[] = Object.keys(manifest.exports)
  .filter((key) => key !== './package.json')
  .map((key) => ({ key, specifier: `cronlatch${key.slice(1)}`, peers: [], typePeers: [], ...NEEDS[key] }));

export const ALL_PEERS: readonly string[] = [...new Set(SUBPATHS.flatMap(({ peers }) => peers))];

/** The packages that any subpath or its declarations need. */
export const ALL_PACKAGES: readonly string[] = [
  ...new Set(SUBPATHS.flatMap(({ peers, typePeers }) => [...peers, ...typePeers])),
];

/** For tools with which the newest version of a package cannot be installed. */
export const { overrides } = manifest;

/** A package in the version that the project is developed with, in npm's notation. */
export function versioned(name: string): string {
  const version = manifest.devDependencies[name];
  if (version === undefined) throw new Error(`${name} is not a development dependency.`);
  return `${name}@${version}`;
}
