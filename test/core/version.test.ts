import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION } from '#cronlatch/core/version';

void test('the version of the library is that of its package', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  assert.equal(VERSION, manifest.version);
});
