import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { INJECTED_NAMES, randomName, TRICKY_NAMES } from '#cronlatch/contracts/names';
import { Random } from '#cronlatch/contracts/random';
import { checkPath, decodeNodeName, encodeNodeName, queueOf } from '#cronlatch/storage/zookeeper/node-names';

const random = new Random(20_261_122);
const NAMES = [
  ...new Set([
    ...[...TRICKY_NAMES, ...INJECTED_NAMES, '.', '..', '...', 'a/b', '%2E', '%', 'zookeeper', "~!*()'"],
    ...Array.from({ length: 2000 }, () => randomName(random)),
  ]),
];

void test('a name of a lock and its node are one to one, and ZooKeeper accepts the node', () => {
  const nodes = NAMES.map(encodeNodeName);
  assert.equal(new Set(nodes).size, NAMES.length);
  assert.deepEqual(nodes.map(decodeNodeName), NAMES);
  for (const node of nodes) {
    assert.match(node, /^[\w.~!*'()%-]+$/);
    assert.ok(node !== '.' && node !== '..');
  }
});

void test('a node that another program has named is left out', () => {
  for (const node of ['%', '%zz', '%C0', 'a b', '%61', '%2f']) assert.equal(decodeNodeName(node), undefined);
});

void test('the queue is in the order of the sequence numbers, not of the owners', () => {
  const queue = queueOf('/lock', ['b-0000000009', 'a-0000000010', 'c-0000000008', 'config', 'd-12']);
  assert.deepEqual(
    queue.map(({ owner, sequence }) => [owner, sequence]),
    [
      ['c', 8],
      ['b', 9],
      ['a', 10],
    ],
  );
});

void test('the order stays right when the sequence number overflows its 32 bits', () => {
  const queue = queueOf('/lock', ['d--2147483647', 'b-2147483647', 'c--2147483648', 'a-2147483646']);
  assert.deepEqual(
    queue.map(({ owner }) => owner),
    ['a', 'b', 'c', 'd'],
  );
  const around0 = queueOf('/lock', ['z-0000000000', 'y--000000001', 'x--000000002']);
  assert.deepEqual(
    around0.map(({ owner }) => owner),
    ['x', 'y', 'z'],
  );
});

void test('an owner may contain what separates it from its number', () => {
  const owner = 'web-0000000001/17/0b6e-0000000002';
  assert.equal(queueOf('/lock', [`${encodeNodeName(owner)}-0000000003`])[0]?.owner, owner);
});

void test('a path that ZooKeeper would refuse is refused with the reason', () => {
  for (const path of ['/cronlatch', '/a/b', '/a.b/..c', '/é']) checkPath(path);
  const wrong = [
    '',
    '/',
    'cronlatch',
    '/a/',
    '//a',
    '/a//b',
    '/./a',
    '/a/..',
    '/a\n',
    '/\u{1f512}',
    '/\ue000',
    7,
  ];
  for (const path of [...wrong, undefined])
    assert.throws(() => checkPath(path), InvalidLockConfigurationError, String(path));
});
