import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cronlatch, testInFolder } from '../cli/cronlatch';
import { codeBlocksOf, tableOf } from '../support/page';

const PAGE = 'docs/command-line.md';

testInFolder('the outputs on the page are those of two calls of init', async (cwd) => {
  const shown = codeBlocksOf(PAGE).filter(({ language }) => language === 'text');
  assert.equal(shown.length, 2);
  for (const { text } of shown) {
    const { stdout } = await cronlatch(['init'], { cwd, env: { DATABASE_URL: 'sqlite:jobs.db' } });
    assert.equal(stdout.replace(/\(.+\/jobs\.db\)/, '(/srv/billing/jobs.db)'), text);
  }
  assert.ok(existsSync(join(cwd, 'jobs.db')));
});

void test('the page lists every option of init', async () => {
  const { stdout } = await cronlatch(['init', '--help']);
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option]) => option);
  const listed = tableOf(PAGE, 'option').map(([cell = '']) => /--[\w-]+/.exec(cell)?.[0]);
  assert.deepEqual(listed.concat('--help').sort(), options.sort());
});
