import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { EtcdLockProvider, type EtcdLockProviderOptions } from 'cronlatch/etcd';

const HTTP = 'http://127.0.0.1:2379';
const HTTPS = 'https://127.0.0.1:2379';

/** Each with the beginning of its message. */
const WRONG: readonly (readonly [unknown, RegExp])[] = [
  [{}, /^Endpoint 1 is not an address/],
  [{ endpoints: [] }, /^endpoints must name at least one server/],
  [{ endpoints: [HTTP, HTTPS] }, /all with http: or all with https:/],
  ...[
    '127.0.0.1:2379',
    'localhost',
    '',
    'ftp://host',
    `${HTTP}/v3`,
    `${HTTP}?a=b`,
    `${HTTP}#a`,
    2379,
    null,
  ].map(
    (endpoints) =>
      [{ endpoints }, /^Endpoint 1 is not an address such as 'http:\/\/127.0.0.1:2379'/] as const,
  ),
  [{ endpoints: [HTTP, 'http://app:secret@host:2379'] }, /^Endpoint 2 .*user and password/],
  [{ endpoints: HTTP, keyPrefix: '' }, /^keyPrefix is ""/],
  [{ endpoints: HTTP, keyPrefix: 1 }, /^keyPrefix is 1/],
  [{ endpoints: HTTP, user: 'app' }, /^user and password/],
  [{ endpoints: HTTP, password: 'secret' }, /^user and password/],
  [{ endpoints: HTTP, user: 'app', password: '' }, /^user and password/],
  [{ endpoints: HTTPS, cert: 'pem' }, /^cert and key/],
  [{ endpoints: HTTPS, key: 'pem' }, /^cert and key/],
  [{ endpoints: HTTP, ca: 'pem' }, /need endpoints with https:/],
  [{ endpoints: HTTP, cert: 'pem', key: 'pem' }, /need endpoints with https:/],
  [{ endpoint: HTTP }, /^Unknown option 'endpoint' for EtcdLockProvider. Did you mean 'endpoints'\?$/],
  [{ endpoints: HTTP, keyprefix: 'a' }, /^Unknown option 'keyprefix'/],
  [{ endpoints: HTTP, keepRows: false }, /^Unknown option 'keepRows'/],
  [{ endpoints: HTTP, nameLength: 0 }, /^nameLength/],
  [{ endpoints: HTTP, statementTimeout: '0s' }, /^statementTimeout/],
];

for (const [options, message] of WRONG)
  void test(`etcd: ${JSON.stringify(options)} is refused, and no password is shown`, () => {
    assert.throws(
      () => new EtcdLockProvider(options as EtcdLockProviderOptions),
      (error: Error) => {
        assert.ok(error instanceof InvalidLockConfigurationError, String(error));
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  });

void test('etcd: certificates that are none are refused', () => {
  const options = { endpoints: HTTPS, cert: 'no certificate', key: 'no key' };
  assert.throws(() => new EtcdLockProvider(options), InvalidLockConfigurationError);
});

void test('etcd: one address, several, and a host without a port are endpoints', async () => {
  for (const endpoints of [
    HTTP,
    `${HTTP}/`,
    'https://etcd.example.com',
    [HTTP, 'http://[::1]:2379'],
    [HTTPS],
  ])
    await new EtcdLockProvider({ endpoints }).close();
});
