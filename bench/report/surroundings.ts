import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';

/** What is needed to compare figures with others. */
export interface Surroundings {
  readonly date: string;
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly processor: string;
  /** The mean number of waiting and running processes in the last minute. */
  readonly load: number;
  readonly servers: readonly MeasuredServer[];
}

export interface MeasuredServer {
  readonly name: string;
  readonly version: string;
  readonly origin: string;
  readonly durability: string;
}

export function surroundings(servers: readonly MeasuredServer[]): Surroundings {
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    packages: Object.fromEntries(
      ['typeorm', 'mysql2', 'pg', 'better-sqlite3', 'ioredis'].map((name) => [name, installedVersion(name)]),
    ),
    processor: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
    load: Math.round((loadavg()[0] ?? NaN) * 10) / 10,
    servers: servers.map(({ name, version, origin, durability }) => ({ name, version, origin, durability })),
  };
}

export function linesOf({ date, node, packages, processor, load, servers }: Surroundings): string[] {
  return [
    ...servers.map(
      ({ name, version, origin, durability }) => `${name} ${version} (${origin}): ${durability}`,
    ),
    `Node ${node}, ${Object.entries(packages)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    `${processor}, load ${load.toFixed(1)}, ${date}`,
  ];
}

export function installedVersion(name: string): string {
  return (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string })
    .version;
}
