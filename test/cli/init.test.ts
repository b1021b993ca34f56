import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cronlatch, testInFolder } from './cronlatch';
import { testInitOn } from './init-cases';

testInitOn(['mysql', 'sqlite']);

testInFolder('on a terminal, init asks before it creates a file or a table', async (cwd) => {
  const call = ['init', '--url', 'sqlite:jobs.db'];
  for (const input of ['', '\n', 'n\n', 'no\n']) {
    const ended = await cronlatch(call, { cwd, input, hook: 'interactive.cjs' });
    assert.equal(ended.status, 1, input);
    assert.match(ended.stdout, /Create what is missing\? \[y\/N\] \n?nothing changed\n$/);
    assert.ok(!existsSync(join(cwd, 'jobs.db')));
  }
  const agreed = await cronlatch(call, { cwd, input: 'y\n', hook: 'interactive.cjs' });
  assert.equal(agreed.status, 0);
  assert.match(agreed.stdout, /\ncreated shedlock, |\] created shedlock, /);
});

testInFolder('on a terminal, --yes answers the question', async (cwd) => {
  const ended = await cronlatch(['init', '--url', 'sqlite:jobs.db', '--yes'], {
    cwd,
    hook: 'interactive.cjs',
  });
  assert.equal(ended.status, 0);
  assert.ok(!ended.stdout.includes('?'));
  assert.ok(existsSync(join(cwd, 'jobs.db')));
});

testInFolder('a dry run does not create the SQLite file', async (cwd) => {
  const ended = await cronlatch(['init', '--url', 'sqlite:jobs.db', '--dry-run'], { cwd });
  assert.equal(ended.status, 0);
  assert.match(ended.stdout, /^SQLite \(.+jobs\.db\), a new file\n/);
  assert.ok(!existsSync(join(cwd, 'jobs.db')));
});
