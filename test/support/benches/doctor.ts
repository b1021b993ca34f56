import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { createJobGuard } from 'cronlatch/typeorm';
import { examine } from '#cronlatch/cli/commands/doctor';
import type { Finding } from '#cronlatch/storage/sql/connections/finding';
import { closing } from './closing';

export interface Report {
  readonly findings: readonly Finding[];
  /** What was examined without a finding. */
  readonly fine: readonly string[];
  readonly notExamined: readonly string[];
}

/** What the settings and the load of servers that all tests share can cause. */
const OF_SHARED_SERVERS = new Set(['not-durable', 'unsynced-commit', 'few-connections']);

/** Examines a database as doctor does. */
export async function examinedAll(
  options: DataSource['options'],
  more: Parameters<typeof createJobGuard>[1] = {},
): Promise<Report> {
  await using guard = closing(
    await createJobGuard(new DataSource(options), { lazy: true, logger: false, ...more }),
  );
  const examined = await examine(guard);
  return {
    findings: examined.flatMap(({ findings }) => findings ?? []),
    fine: examined.filter(({ findings }) => findings?.length === 0).map(({ topic }) => topic),
    notExamined: examined.filter(({ findings }) => findings === undefined).map(({ topic }) => topic),
  };
}

/** The same, without the findings about a server that all tests share. */
export async function examined(...args: Parameters<typeof examinedAll>): Promise<Report> {
  const report = await examinedAll(...args);
  return { ...report, findings: report.findings.filter(({ code }) => !OF_SHARED_SERVERS.has(code)) };
}

/** What a guard warns of when it starts. */
export async function warningsAtStart(
  options: DataSource['options'],
  more: Parameters<typeof createJobGuard>[1] = {},
): Promise<string[]> {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message), error: assert.fail };
  const guard = await createJobGuard(new DataSource(options), { ...more, logger });
  await guard.close();
  return warnings;
}

/** Each as `error read-only`, in alphabetical order. */
export function codesOf(findings: readonly Finding[]): string[] {
  return findings.map(({ code, severity }) => `${severity} ${code}`).sort();
}
