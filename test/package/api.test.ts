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

/** Their functions have the same names, so that an application changes its driver by changing its imports. Memory is one. */
const DRIVERS = ['typeorm', 'mysql2', 'pg', 'better-sqlite3', 'memory'].map((name) => `${name}.api.md`);

void test('no name is exported by two subpaths, except by those of the drivers', () => {
  const homes = new Map<string, string>();
  for (const file of readdirSync('api')) {
    const report = readFileSync(join('api', file), 'utf8');
    for (const [, name = ''] of report.matchAll(EXPORT)) {
      const home = DRIVERS.includes(file) ? 'a driver' : file;
      assert.ok([undefined, home].includes(homes.get(name)), `${name} is in ${homes.get(name)} and ${file}`);
      homes.set(name, home);
    }
  }
  assert.ok(homes.size > 100);
});
