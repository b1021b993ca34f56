import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { cronlatch, testInFolder } from '../cli/cronlatch';
import { dueJob, registerEarlierIn } from '../cli/year-of-runs';
import { closing } from '../support/benches/closing';
import { codeBlocksOf, tableOf } from '../support/checks/page';
import { command, commandWith } from '../support/processes/command';

const PAGE = 'docs/command-line.md';
const MAIN = resolve('dist/cli/main.js');
const URL = 'sqlite:jobs.db';

/** A call on the page, and what it prints. */
interface Shown {
  readonly call: string;
  readonly output: string;
}

const shown: readonly Shown[] = codeBlocksOf(PAGE)
  .filter(({ language }) => language === 'console')
  .flatMap(({ text }) => text.split(/^\$ /m).slice(1))
  .map((part) => {
    const [call = '', ...output] = part.split('\n');
    return { call, output: output.join('\n') };
  });

/** Without what differs from host to host and from call to call. */
function plain(output: string): string {
  return output
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z/g, 'INSTANT')
    .replace(/\d{4}-\d\d-\d\d/g, 'DATE')
    .replace(/hold\/[^/]+\//g, 'hold/ACTOR/')
    .replace(/\S+(?=: audit)/, 'ACTOR')
    .replace(/[\w.-]+\/\d+ /g, 'HOLDER ')
    .replace(/\b([A-Z][a-z]{2} )?\d\d:\d\d\b/g, 'TIME')
    .replace(/ +/g, ' ')
    .replace(/locked by \S+/g, 'locked by HOLDER');
}

testInFolder('the calls of exec and pause on the page print what it shows', async (cwd) => {
  const script = join(cwd, 'close-day.sh');
  writeFileSync(script, '#!/bin/sh\necho "closing $CRONLATCH_BUSINESS_DATE, attempt $CRONLATCH_ATTEMPT"\n');
  chmodSync(script, 0o755);
  await cronlatch(['init', '--url', URL], { cwd });
  await using guard = closing(
    await createJobGuard(`sqlite:${join(cwd, 'jobs.db')}`, { pollInterval: false }),
  );
  await guard.lockManager().tryLock({ name: 'nightly-export', lockAtMostFor: '10m' });
  await registerEarlierIn(join(cwd, 'jobs.db'), guard, dueJob('send-reminders', 1));
  assert.equal(shown.length, 8);
  for (const { call, output } of shown) {
    const words = call.replace('npx cronlatch', `"${process.execPath}" "${MAIN}"`);
    const env = { DATABASE_URL: URL };
    const ended = await commandWith({ cwd, env, input: '' }, 'sh', ['-c', `${words} 2>&1`]);
    assert.equal(plain(ended.stdout), plain(output), call);
  }
});

testInFolder('the page lists every option of exec', async (cwd) => {
  const { stdout } = await command(process.execPath, [MAIN, 'exec', '--help'], cwd);
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option]) => option);
  const listed = tableOf(PAGE, '`exec` option').map(([cell = '']) => /--[\w-]+/.exec(cell)?.[0]);
  const shared = [
    '--url',
    '--data-source',
    '--lock-table',
    '--run-table',
    '--job-table',
    '--schema',
    '--app',
    '--verbose',
    '--help',
  ];
  assert.deepEqual(listed.concat(shared).sort(), options.sort());
});
