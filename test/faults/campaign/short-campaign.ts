import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Report } from './report/write-report';

/** Runs the command to its end. */
export async function chaos(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ status: number; out: string; err: string }> {
  const child = spawn(process.execPath, [join(__dirname, 'main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const ended = once(child, 'close') as Promise<[number]>;
  const [out, err, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, out, err };
}

/** Keeps all promises, and reports its faults. */
export async function shortCampaign(server: string, minutes: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-reports-'));
  const settings = ['--server', server, '--minutes', minutes, '--seed', '1', '--report', folder];
  try {
    const { status, out, err } = await chaos(settings);
    assert.equal(status, 0, `${out}\n${err}`);
    assert.match(out, new RegExp(`# Chaos on ${server}: all promises kept`));
    const name = readdirSync(folder).find((file) => file.endsWith('.json')) ?? '';
    const report = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report;
    assert.deepEqual([report.seed, report.unexplained], [1, []]);
    assert.ok(report.figures.grants > 0);
    assert.ok(Object.keys(report.figures.faults).length > 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
