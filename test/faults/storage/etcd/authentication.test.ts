import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import { closing } from '../../../support/benches/closing';
import { ownServer } from '../../../support/servers/own';
import { testOnOwn } from '../../../support/servers/test-on';
import { base64, etcd, EtcdPlace } from '../../../support/stores/etcd-place';

const JOB = { name: 'job', lockAtMostFor: '10m' };
const APP = { user: 'app', password: 'app-secret' };
/** What the server needs for a user that may use one prefix, as on the page about etcd. */
const SETUP: readonly (readonly [string, object])[] = [
  ['auth/user/add', { name: 'root', password: 'root-secret' }],
  ['auth/role/add', { name: 'root' }],
  ['auth/user/grant', { user: 'root', role: 'root' }],
  ['auth/role/add', { name: 'cronlatch' }],
  [
    'auth/role/grant',
    {
      name: 'cronlatch',
      perm: { permType: 'READWRITE', key: base64('cronlatch/'), range_end: base64('cronlatch0') },
    },
  ],
  ['auth/user/add', { name: APP.user, password: APP.password }],
  ['auth/user/grant', { user: APP.user, role: 'cronlatch' }],
  ['auth/enable', {}],
];

function refusedWith(outcome: string, advice: RegExp): (error: Error) => boolean {
  return (error) => {
    assert.ok(error instanceof LockStorageError, String(error));
    assert.equal(error.outcome, outcome);
    assert.match(error.message, advice);
    assert.doesNotMatch(`${error.message} ${error.stack}`, /secret/);
    return true;
  };
}

testOnOwn(
  'etcd',
  'a user with a role for the prefix holds, extends, lists, watches and releases locks',
  async () => {
    await using server = closing(await ownServer('etcd'));
    const endpoint = new URL(server.url).origin;
    for (const [path, body] of SETUP) assert.equal((await etcd(endpoint, path, body)).error, undefined, path);
    const place = Object.assign(new EtcdPlace(endpoint), { keyPrefix: 'cronlatch/' });
    const [provider, other] = [place.provider(APP), place.provider(APP)];
    const lock = await provider.lock(JOB);
    assert.ok(lock);
    assert.equal(await other.lock(JOB), undefined);
    assert.equal(await lock.extend('5m'), true);
    assert.deepEqual(
      (await other.list({})).map(({ name }) => name),
      ['job'],
    );
    const released = other.released(JOB.name, AbortSignal.timeout(10_000));
    assert.equal(await lock.unlock(), true);
    await released;
    assert.ok(await other.lock(JOB));
    await provider.close();

    // The tokens of the server do not outlive it.
    await server.kill('SIGTERM');
    await server.restart();
    assert.equal((await other.inspect(JOB.name))?.isHeld, true);

    const nobody = place.provider();
    await assert.rejects(nobody.lock(JOB), refusedWith('nothing-ran', /set user and password/));
    const wrong = place.provider({ ...APP, password: 'secret-too' });
    await assert.rejects(wrong.lock(JOB), refusedWith('nothing-ran', /Check user and password/));
    const elsewhere = place.provider({ ...APP, keyPrefix: 'other/' });
    await assert.rejects(elsewhere.lock(JOB), refusedWith('nothing-ran', /Grant the user read and write/));
    for (const each of [other, nobody, wrong, elsewhere]) await each.close();
  },
);

testOnOwn('etcd', 'a user for a server without authentication is an error with advice', async () => {
  await using server = closing(await ownServer('etcd'));
  const provider = new EtcdPlace(new URL(server.url).origin).provider(APP);
  await assert.rejects(provider.lock(JOB), refusedWith('nothing-ran', /Enable authentication/));
  await provider.close();
});
