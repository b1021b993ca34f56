import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NODE_KINDS, type Tool } from '../../package/kinds';
import { Places } from '../../package/places';
import { SUBPATHS } from '../../package/subpaths';
import { pack } from '../../package/tarball';

const NODE: Tool = { name: `Node ${process.versions.node}`, family: 'Node', path: process.execPath };
const places = new Places();

before(async () => await places.link((await pack()).file));
after(() => places[Symbol.dispose]());

for (const kind of NODE_KINDS) {
  void test(`${kind.name}: each subpath of the packed package works in an empty project`, async () => {
    assert.ok(SUBPATHS.length >= 5);
    assert.deepEqual([...(await kind.failures(NODE, places))], []);
  });
}
