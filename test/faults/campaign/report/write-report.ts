import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '../campaign';
import type { CampaignOptions } from '../options';
import { markdownOf } from './markdown';

export interface Report extends Outcome {
  readonly server: string;
  readonly keeper: string;
  readonly minutes: number;
  readonly wait: boolean;
  readonly seed: number;
  readonly startedAt: string;
  readonly commit: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** Writes it as JSON and as Markdown into the folder of the options. */
export async function writeReport(
  { server, keeper, wait, minutes, seed, report: folder }: CampaignOptions,
  outcome: Outcome,
  startedAt: Date,
): Promise<{ files: readonly string[]; text: string }> {
  const report: Report = {
    ...{ server, keeper, wait, minutes, seed, startedAt: startedAt.toISOString(), commit: commit() },
    versions: { node: process.version, [server]: outcome.serverVersion, ...(await driverVersions()) },
    ...outcome,
  };
  const text = markdownOf(report);
  const name = `chaos-${server}${wait ? '-wait' : ''}-${report.startedAt.slice(0, 10)}-${seed}`;
  mkdirSync(folder, { recursive: true });
  const files = [join(folder, `${name}.json`), join(folder, `${name}.md`)] as const;
  writeFileSync(files[0], `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(files[1], `${text}\n`);
  return { files, text };
}

/** The commit, with a mark if the work tree differs from it. */
function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown'; // Not in a Git repository.
  }
}

async function driverVersions(): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const name of ['typeorm', 'mysql2', 'pg', 'better-sqlite3', 'ioredis', 'node-zookeeper-client']) {
    const { default: manifest } = (await import(`${name}/package.json`, { with: { type: 'json' } })) as {
      default: { version: string };
    };
    versions[name] = manifest.version;
  }
  return versions;
}
