/** Addresses that cannot be used, or only by accident. No error may contain a piece of their password. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { CronlatchError } from 'cronlatch';
import * as sqliteDriver from 'cronlatch/better-sqlite3';
import { EtcdLockProvider } from 'cronlatch/etcd';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import { RedisLockProvider } from 'cronlatch/redis';
import * as typeormDriver from 'cronlatch/typeorm';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { DataSource } from 'typeorm';
import { reasonOf } from '../../support/benches/guard';
import { cronlatch } from '../../cli/cronlatch';

/** Pieces of the passwords below. Digits can be mistaken for a port. */
const SECRETS = /hunter2|47119/;

const PASSWORDS = [
  ...[
    'hunter2',
    'hunter2#hunter2',
    'hunter2?hunter2',
    'hunter2/hunter2',
    'hunter2@hunter2',
    'hunter2:hunter2',
  ],
  ...[
    'hunter2%',
    'hunter2%zz',
    'hunter2 hunter2',
    'hunter2\\hunter2',
    '[hunter2',
    'hunter2]',
    '#hunter2',
    'hunter2,é',
  ],
  ...['47119#47119', '47119?47119', '47119/47119', '47119/?47119', '47119?/47119', 'hunter2%23%3F%2F'],
];

/** Nothing listens at port 1. */
const ADDRESSES = [
  ...PASSWORDS.map((password) => `app:${password}@127.0.0.1:1/app`),
  ...[
    '127.0.0.1:70000',
    '127.0.0.1:-1',
    '127.0.0.1:port',
    '[::1',
    '[::1]:70000',
    '127.0.0.1:1,127.0.0.1:1',
    'a,b',
  ].map((place) => `app:hunter2@${place}/app`),
  'app:hunter2@127.0.0.1:1',
  'app:hunter2@/app?host=a,b',
];

/** Everything that can be reached from an error: hidden properties, causes, inner errors. */
function everythingIn(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value === 'symbol' || typeof value === 'function') return '';
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  const own = Reflect.ownKeys(value).map(
    (key) => `${String(key)} ${everythingIn(Reflect.get(value, key), seen)}`,
  );
  return [
    inspect(value, { showHidden: true, depth: Infinity, getters: true }),
    Error.prototype.toString.call(value),
    ...own,
  ].join('\n');
}

async function assertSecret(call: () => unknown, what: string): Promise<void> {
  const error = await reasonOf(Promise.resolve().then(call));
  assert.ok(error instanceof CronlatchError, `${what}: ${inspect(error)}`);
  const found = everythingIn(error);
  assert.doesNotMatch(found, SECRETS, what);
  assert.ok(found.includes(error.message));
}

const SERVERS = [
  ['mysql', mysqlDriver, (uri: string) => ({ uri })],
  ['mariadb', mysqlDriver, (uri: string) => ({ uri })],
  ['postgres', pgDriver, (connectionString: string) => ({ connectionString })],
] as const;

for (const [scheme, driver, optionsOf] of SERVERS) {
  void test(`${scheme}: no error about an address contains its password`, async () => {
    for (const address of ADDRESSES.map((each) => `${scheme}://${each}`))
      for (const source of [address, optionsOf(address)]) {
        await assertSecret(() => driver.createJobGuard(source), address);
        await assertSecret(() => driver.createTables(source), address);
        await assertSecret(() => driver.verifySchema(source), address);
        await assertSecret(() => new driver.RowLockProvider(source).check(), address);
      }
  });

  void test(`${scheme}: no error about the address of a DataSource contains its password`, async () => {
    for (const url of ADDRESSES.map((each) => `${scheme}://${each}`))
      for (const way of [{ url }, { replication: { master: { url }, slaves: [] } }]) {
        let source: DataSource;
        try {
          source = new DataSource({ type: scheme, ...way });
        } catch (error) {
          // TypeORM itself cannot decode the password.
          assert.ok(error instanceof URIError);
          continue;
        }
        await assertSecret(() => typeormDriver.createJobGuard(source), url);
        await assertSecret(() => new typeormDriver.RowLockProvider(source).check(), url);
      }
  });
}

void test('no error of another store contains the password of an address that was passed to it', async () => {
  for (const address of ADDRESSES) {
    for (const scheme of ['mysql', 'redis'])
      await assertSecret(() => sqliteDriver.createJobGuard(`${scheme}://${address}`), address);
    for (const scheme of ['http', 'https'])
      await assertSecret(async () => {
        const provider = new EtcdLockProvider({ endpoints: `${scheme}://${address}` });
        try {
          await provider.lock({ name: 'job', lockAtMostFor: '1m' });
        } finally {
          await provider.close();
        }
      }, address);
    await assertSecret(() => new RedisLockProvider(`redis://${address}` as never), address);
    await assertSecret(() => new ZooKeeperLockProvider(`zookeeper://${address}` as never), address);
  }
});

void test('the command line shows no password of an address, not even with --verbose', async () => {
  const addresses = [3, 5, 16, 18, 20, 22].map((index) => ADDRESSES[index] ?? assert.fail());
  const schemes = ['mysql', 'postgres'] as const;
  for (const url of addresses.flatMap((address) => schemes.map((scheme) => `${scheme}://${address}`))) {
    const { status, stdout, stderr } = await cronlatch(['doctor', '--verbose', '--url', url]);
    assert.notEqual(status, 0, url);
    assert.doesNotMatch(stdout + stderr, SECRETS, url);
  }
});
