import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import { promisify } from 'node:util';
import { LockStorageError } from 'cronlatch';
import { targetOf } from '../../../support/faults/tcp-proxy';
import { runningServer } from '../../../support/servers/running';
import { testIf } from '../../../support/servers/test-on';
import { etcdEndpoint, EtcdPlace } from '../../../support/stores/etcd-place';

const JOB = { name: 'job', lockAtMostFor: '10m' };
const run = promisify(execFile);

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Signed by itself, for 127.0.0.1. */
async function selfSigned(): Promise<Certificate> {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=cronlatch test'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
    ]);
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Ends TLS in front of the server. */
async function tlsInFront(options: TlsOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(options, (client) => {
    const upstream = connect(targetOf(etcdEndpoint()));
    client.pipe(upstream).pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  server.on('tlsClientError', () => {}); // The client reports it.
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    close: async () => void (await new Promise((resolve) => server.close(resolve))),
  };
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

function testTls(name: string, body: (server: Certificate, place: EtcdPlace) => Promise<void>): void {
  const isPossible = hasOpenssl && runningServer('etcd') !== undefined;
  testIf(isPossible, 'etcd with openssl', `etcd: ${name}`, async () => {
    const place = new EtcdPlace();
    await body(await selfSigned(), place);
    await place.dispose();
  });
}

async function refusal(place: EtcdPlace, options: object): Promise<LockStorageError> {
  const provider = place.provider(options);
  try {
    await provider.lock(JOB);
  } catch (error) {
    assert.ok(error instanceof LockStorageError);
    return error;
  } finally {
    await provider.close();
  }
  return assert.fail('the lock was granted');
}

testTls('locks over TLS need the authority of the server', async (certificate, place) => {
  const front = await tlsInFront(certificate);
  const provider = place.provider({ endpoints: front.url, ca: certificate.cert });
  const lock = await provider.lock(JOB);
  assert.equal(await lock?.unlock(), true);
  await provider.close();

  const distrusted = await refusal(place, { endpoints: front.url });
  assert.equal(distrusted.outcome, 'nothing-ran');
  assert.equal(distrusted.driverCode, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  assert.match(distrusted.message, /Check ca, cert and key/);

  const renamed = front.url.replace('127.0.0.1', 'localhost');
  const misnamed = await refusal(place, { endpoints: renamed, ca: certificate.cert });
  assert.equal(misnamed.outcome, 'nothing-ran');
  assert.equal(misnamed.driverCode, 'ERR_TLS_CERT_ALTNAME_INVALID');

  const plain = await refusal(place, { endpoints: front.url.replace('https:', 'http:') });
  assert.notEqual(plain.outcome, 'contention');
  await front.close();
});

testTls('a server that wants a certificate of the client refuses all others', async (certificate, place) => {
  const client = await selfSigned();
  const front = await tlsInFront({
    ...{ ...certificate, ca: [certificate.cert, client.cert] },
    ...{ requestCert: true, rejectUnauthorized: true },
  });
  const options = { endpoints: front.url, ca: certificate.cert };
  const provider = place.provider({ ...options, ...client });
  const lock = await provider.lock(JOB);
  assert.equal(await lock?.unlock(), true);
  await provider.close();
  assert.equal((await refusal(place, options)).outcome, 'nothing-ran');
  assert.equal((await refusal(place, { ...options, ...(await selfSigned()) })).outcome, 'nothing-ran');
  await front.close();
});
