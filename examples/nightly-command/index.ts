/**
 * A nightly program without an application: `exec` runs it on one of two hosts, `pause` keeps it from starting, and
 * `status` shows the night.
 *
 * Run: npm run example nightly-command
 * Prints:
 *   web-1: exec → 0
 *   exporting the figures of …
 *   web-2: exec → 0
 *   cronlatch: job 'nightly-export' for … skipped: already-completed (attempt 1, scheduled at …)
 *   an operator: pause → 0
 *   pause job nightly-export until …: no instance starts it until then
 *   Paused: no instance starts the job.
 *   web-1, the next night: exec → 75
 *   cronlatch: job 'nightly-export' skipped: locked by hold/anne/move of the storage/… until …
 *   an operator: resume → 0
 *   end the pause of lock nightly-export by hold/anne/move of the storage/…
 *   Resumed: overdue runs start at the next check.
 *   web-1, once more: exec → 0
 *   exporting the figures of …
 *   the monitoring: status --check → 0
 *   no problems
 *
 * A crontab of each host has the call of `exec`, and a check every few minutes has that of `status --check`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What `npx cronlatch` calls. */
const CRONLATCH = join(dirname(require.resolve('cronlatch')), 'cli/main.js');
const JOB = 'nightly-export';
const NIGHTLY = [
  ...['exec', '--name', JOB, '--at-most', '10m', '--once-per', 'day', '--time-zone', 'Europe/Paris'],
];
const EXPORT = ['--', process.execPath, join(__dirname, 'export-figures.js')];
const BY_ANNE = ['--actor', 'anne', '--reason', 'move of the storage', '--yes'];

function main(): void {
  const folder = mkdtempSync(join(tmpdir(), 'nightly-command-'));
  const env = { ...process.env, DATABASE_URL: `sqlite:${join(folder, 'jobs.db')}` };
  const call = (...args: readonly string[]): readonly [status: number | null, output: string] => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [CRONLATCH, ...args], {
      env,
      encoding: 'utf8',
    });
    return [status, `${stdout}${stderr}`.trim()];
  };
  const show = (who: string, ...args: readonly string[]): void => {
    const [status, output] = call(...args);
    const shown = args[1] === '--check' ? 'status --check' : args[0];
    console.log(`${who}: ${shown} → ${status}\n${output}`);
  };
  // A day can have 25 hours.
  const lastNight = ['--scheduled-at', new Date(Date.now() - 25 * 3_600_000).toISOString()];
  try {
    call('init');
    show('web-1', ...NIGHTLY, ...lastNight, ...EXPORT);
    show('web-2', ...NIGHTLY, ...lastNight, ...EXPORT); // Its clock is a little behind.
    show('an operator', 'pause', JOB, '--until', '2h', ...BY_ANNE);
    show('web-1, the next night', ...NIGHTLY, ...EXPORT);
    show('an operator', 'resume', JOB, ...BY_ANNE);
    show('web-1, once more', ...NIGHTLY, ...EXPORT);
    show('the monitoring', 'status', '--check');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

main();
