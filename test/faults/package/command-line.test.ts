import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLineFailure } from '../../package/command-line';
import { pack } from '../../package/tarball';

void test('npx cronlatch works from the packed package, with one driver', async () => {
  assert.equal(await commandLineFailure(await pack()), undefined);
});
