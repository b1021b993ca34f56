import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testIf } from '../support/servers/test-on';

/**
 * Commands that start a process as the first one of its namespace: for any user if the system allows it, or
 * for root.
 */
const WAYS = [['--user', '--map-root-user'], []].map((how) => [...how, '--pid', '--fork', '--kill-child']);
const WAY = WAYS.find((how) => spawnSync('unshare', [...how, 'true']).status === 0);

for (const [signal, status] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  testIf(
    WAY !== undefined,
    'namespace of process ids',
    `${signal} also ends the first process of a container, which signals do not end by default (F-13)`,
    async () => {
      const script = join(__dirname, 'fixtures', 'first-process.js');
      const child = spawn('unshare', [...(WAY ?? []), process.execPath, script, signal], {
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: 30_000,
        killSignal: 'SIGKILL',
      });
      const ended = once(child, 'close');
      assert.equal(await text(child.stdout), 'process 1\nclosed\n');
      assert.deepEqual(await ended, [status, null]);
    },
  );
}
