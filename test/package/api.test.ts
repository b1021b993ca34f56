import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SUBPATHS } from './subpaths';
import { useName } from './use';

const EXPORT = /^export (?:abstract )?(?:class|const|enum|function|interface|type) (\w+)/gm;

void test('every subpath has a report of its public API', () => {
  const reports = SUBPATHS.map((subpath) => `${useName(subpath)}.api.md`);
  assert.deepEqual(readdirSync('api').sort(), reports.sort());
});

void test('no name is exported by two subpaths', () => {
  const homes = new Map<string, string>();
  for (const file of readdirSync('api')) {
    const report = readFileSync(join('api', file), 'utf8');
    for (const [, name = ''] of report.matchAll(EXPORT)) {
      assert.ok([undefined, file].includes(homes.get(name)), `${name} is in ${homes.get(name)} and ${file}`);
      homes.set(name, file);
    }
  }
  assert.ok(homes.size > 100);
});
