import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLineFailure } from './command-line';
import { pack } from './tarball';

void test('npx cronlatch works from the packed package, with one driver', async () => {
  assert.equal(await commandLineFailure(await pack()), undefined);
});
