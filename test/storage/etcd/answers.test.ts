import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { LockStorageError } from 'cronlatch';
import type { EtcdLockProvider } from 'cronlatch/etcd';
import { JOB, testEtcd, type EtcdBench } from '../../support/benches/etcd';
import type { Fault, ObservedGateway } from '../../support/faults/etcd-gateway';

function refused(error: string, code: number, status = 400): Fault {
  return { status, answer: { error, message: error, code } };
}

function testAnswer(
  name: string,
  body: (provider: EtcdLockProvider, gateway: ObservedGateway) => Promise<void>,
): void {
  const credentials = { user: 'app', password: 'secret' };
  const asUser = async ({ provider, gateway }: EtcdBench): Promise<void> => {
    gateway.fault = login;
    try {
      await body(provider, gateway);
    } finally {
      gateway.fault = login;
    }
  };
  testEtcd(name, asUser, credentials);
}

const TOKEN = 'token.1';

/** The server of the tests has no authentication. */
function login({ path }: { readonly path: string }): Fault | undefined {
  return path === 'auth/authenticate' ? { answer: { header: {}, token: TOKEN } } : undefined;
}

/** What the server answers to the transaction of a grant, the outcome, and the advice. */
const REFUSALS: readonly (readonly [Fault, string, RegExp])[] = [
  [refused('etcdserver: permission denied', 7, 403), 'nothing-ran', /Grant the user/],
  [refused('etcdserver: user name is empty', 3), 'nothing-ran', /set user and password/],
  [refused('etcdserver: mvcc: database space exceeded', 8, 429), 'unknown', /disarm the alarm/],
  [refused('etcdserver: rpc not supported for learner', 14, 503), 'nothing-ran', /learner/],
  [refused('etcdserver: no leader', 14, 503), 'nothing-ran', /majority/],
  [refused('etcdserver: requested lease not found', 5, 404), 'nothing-ran', /lease ended/],
  [refused('etcdserver: too many requests', 8, 429), 'contention', /too many requests/],
  [{ status: 404, answer: '404 page not found' }, 'unknown', /status 404, but not as etcd 3.4/],
  [{ answer: '<html>Welcome to nginx</html>' }, 'unknown', /status 200, but not as etcd/],
  [{ answer: 'null' }, 'unknown', /not as etcd/],
  [{ answer: { ok: true } }, 'unknown', /not as etcd/],
];

// What is unknown is read near the time limit of the statement.
void suite('answers', { concurrency: 8 }, () => {
  for (const [fault, outcome, advice] of REFUSALS)
    testAnswer(`${JSON.stringify(fault)} is an error with advice, and no lock`, async (provider, gateway) => {
      await (await provider.lock({ ...JOB, name: 'first' }))?.unlock();
      gateway.fault = (sent) => (sent.path === 'kv/txn' ? fault : login(sent));
      await assert.rejects(provider.lock(JOB), (error: LockStorageError) => {
        assert.ok(error instanceof LockStorageError);
        assert.equal(error.outcome, outcome);
        assert.match(error.message, /^etcd at 127\.0\.0\.1:\d+ failed on lock 'job': /);
        assert.match(error.message, advice);
        assert.doesNotMatch(error.message, /secret|token\.1/);
        return true;
      });
    });

  for (const error of ['etcdserver: request timed out', 'etcdserver: leader changed'])
    testAnswer(`after '${error}' the lock is read, to settle who has it`, async (provider, gateway) => {
      await (await provider.lock({ ...JOB, name: 'first' }))?.unlock();
      let hasFailed = false;
      gateway.fault = (sent) => {
        if (hasFailed || sent.path !== 'kv/txn') return login(sent);
        hasFailed = true;
        return refused(error, 14, 503);
      };
      const lock = await provider.lock(JOB);
      assert.equal(await lock?.unlock(), true);
    });

  testAnswer('a token that has expired is renewed once, by one login', async (provider, gateway) => {
    await (await provider.lock({ ...JOB, name: 'first' }))?.unlock();
    gateway.takePaths();
    let tokens = 1;
    gateway.fault = (sent) => {
      if (sent.path === 'auth/authenticate')
        return { answer: { header: {}, token: `token.${(tokens += 1)}` } };
      return sent.token === TOKEN ? refused('etcdserver: invalid auth token', 16, 401) : undefined;
    };
    const locks = await Promise.all(['a', 'b', 'c'].map((name) => provider.lock({ ...JOB, name })));
    assert.ok(locks.every((lock) => lock !== undefined));
    assert.equal(gateway.takePaths().filter((path) => path === 'auth/authenticate').length, 1);
  });

  testAnswer('a token that stays invalid is an error', async (provider, gateway) => {
    gateway.fault = (sent) => login(sent) ?? refused('etcdserver: invalid auth token', 16, 401);
    await assert.rejects(provider.lock(JOB), {
      outcome: 'nothing-ran',
      driverCode: 'etcdserver: invalid auth token',
    });
    assert.equal(gateway.takePaths().filter((path) => path === 'auth/authenticate').length, 2);
  });

  testAnswer(
    'a wrong password is an error that does not show it, and the next lock tries again',
    async (provider, gateway) => {
      gateway.fault = ({ path }) =>
        path === 'auth/authenticate'
          ? refused('etcdserver: authentication failed, invalid user ID or password', 3)
          : undefined;
      await assert.rejects(provider.lock(JOB), (error: Error) => {
        assert.match(error.message, /Check user and password/);
        assert.doesNotMatch(JSON.stringify([error.message, error.stack, error.cause]), /secret/);
        return true;
      });
      gateway.fault = login;
      assert.ok(await provider.lock(JOB));
    },
  );

  testAnswer('a revision that cannot be a token is an error', async (provider, gateway) => {
    await (await provider.lock({ ...JOB, name: 'first' }))?.unlock();
    gateway.fault = (sent) =>
      sent.path === 'kv/txn'
        ? { answer: { header: { revision: '9007199254740993' }, succeeded: true } }
        : login(sent);
    await assert.rejects(
      provider.lock(JOB),
      /cannot be a fencing token: 9007199254740993 is not a safe integer/,
    );
  });
});
