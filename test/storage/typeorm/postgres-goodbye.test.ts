import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { DataSource } from 'typeorm';
import { LockStorageError } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { nextEvent } from '../../support/benches/guard';

function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const GOODBYE = 'terminating connection due to administrator command';
const WELCOME_AND_GOODBYE = Buffer.concat([
  message('R', Buffer.alloc(4)), // authenticated
  message('Z', Buffer.from('I')), // ready for statements
  message('E', Buffer.from(`SFATAL\0VFATAL\0C57P01\0M${GOODBYE}\0\0`)),
]);

/** A server that shuts down just after it has authenticated a client, and reports both in one packet. */
async function closingServer(): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // The client may have disconnected first.
    socket.once('data', () => socket.end(WELCOME_AND_GOODBYE));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `postgres://app@127.0.0.1:${(server.address() as AddressInfo).port}/app`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

void test('a PostgreSQL that shuts down in the same packet that admits the client fails the tick and not the process (F-30)', async () => {
  await using server = closing(await closingServer());
  const dataSource = new DataSource({ type: 'postgres', url: server.url });
  await using guard = closing(
    await createJobGuard(dataSource, { lazy: true, logger: false, statementTimeout: '1s' }),
  );
  for (let tick = 1; tick <= 3; tick += 1) {
    const failed = nextEvent(guard, 'lock:failed');
    await assert.rejects(
      guard.run({ name: 'job', lockAtMostFor: '1m' }, () => assert.fail('ran')),
      (error) => error instanceof LockStorageError && error.outcome === 'nothing-ran',
    );
    await failed;
  }
});
