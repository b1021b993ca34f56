import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import * as required from 'cronlatch';
import { SUBPATHS } from './package/subpaths';

const requireFrom = createRequire(__filename);

for (const { specifier } of SUBPATHS) {
  void test(`${specifier} is the same instance for import and require, name by name`, async () => {
    const imported = (await import(specifier)) as Record<string, unknown>;
    const common = requireFrom(specifier) as Record<string, unknown>;
    const names = Object.keys(common).filter((name) => name !== '__esModule');
    assert.ok(names.length > 0);
    for (const name of names) assert.equal(imported[name], common[name], name);
  });
}

void test('every module can be loaded by itself', () => {
  const files = readdirSync('dist', { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.js'));
  assert.ok(files.length > 60);
  for (const file of files) requireFrom(resolve('dist', file));
});

void test('import and require see the same context', async () => {
  const imported = await import('cronlatch');
  const { InMemoryLockProvider } = await import('cronlatch/memory');
  const guard = new required.JobGuard({ lockProvider: new InMemoryLockProvider() });
  await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => imported.LockAssert.assertLocked('job'));
});

void test('the core needs no package', () => {
  const script = `
    const Module = require('node:module');
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (!name.startsWith('.') && !name.startsWith('node:') && !name.startsWith('/')) throw new Error('loads ' + name);
      return load(name, ...rest);
    };
    for (const file of ['index', 'provider', 'calendar', 'integrations/memory/index', 'contracts/index', 'testing/index']) require(process.cwd() + '/dist/' + file + '.js');
  `;
  execFileSync(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit'] });
});
