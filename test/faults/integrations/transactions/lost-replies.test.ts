import assert from 'node:assert/strict';
import { closing } from '../../../support/benches/closing';
import { testServerTransactions } from '../../../support/benches/transaction';
import { eventually } from '../../../support/clocks/eventually';
import { Stranger } from '../../../support/databases/stranger';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../../../support/faults/tcp-proxy';

/** A job whose transaction goes through a proxy. */
interface Scene {
  readonly proxy: TcpProxy;
  readonly bench: { effects(): Promise<number[]> };
  /** Resolves when the sessions through the proxy have ended. */
  readonly sessionsEnded: () => Promise<void>;
}

/** A fault of the connection between the completion and COMMIT, or after it. */
interface Mishap {
  readonly name: string;
  readonly before: (scene: Scene) => Promise<void>;
  readonly after?: (scene: Scene) => Promise<void>;
  readonly isCommitted: boolean;
}

const isCommitted = ({ bench }: Scene): Promise<void> =>
  eventually(async () => (await bench.effects()).length === 1, 'the server has committed');

const MISHAPS: readonly Mishap[] = [
  {
    name: 'COMMIT arrives, and its reply never comes',
    before: ({ proxy }) => Promise.resolve(proxy.deafen()),
    isCommitted: true,
  },
  {
    name: 'COMMIT arrives, and the connection is cut before its reply',
    before: ({ proxy }) => Promise.resolve(proxy.deafen()),
    async after(scene) {
      await isCommitted(scene);
      await scene.proxy.close();
      await scene.proxy.open();
    },
    isCommitted: true,
  },
  {
    name: 'the connection is cut before COMMIT',
    async before({ proxy }) {
      await proxy.close();
      await proxy.open();
    },
    isCommitted: false,
  },
  {
    name: 'COMMIT is never delivered, and the client gets no error',
    before: ({ proxy }) => Promise.resolve(proxy.stall()),
    async after({ proxy, sessionsEnded }) {
      await eventually(() => proxy.halfOpen > 0, 'the client gives up');
      proxy.cut();
      await sessionsEnded();
      proxy.flow();
    },
    isCommitted: false,
  },
  {
    name: 'COMMIT arrives after its client has stopped waiting (F-41)',
    before: ({ proxy }) => Promise.resolve(proxy.stall('to-server')),
    async after({ proxy }) {
      await eventually(() => proxy.halfOpen > 0, 'the client gives up');
      proxy.flow();
    },
    isCommitted: true,
  },
];

for (const { name, before, after, isCommitted } of MISHAPS) {
  testServerTransactions(
    `${name}: it is ${isCommitted ? '' : 'not '}completed, and the pool drops the connection (L-19)`,
    async ({ kind, database, open }) => {
      await using proxy = closing(await tcpProxy(targetOf(database.url)));
      const url = throughProxy(database.url, proxy);
      const bench = await open({ url, poolSize: 1, guard: { statementTimeout: '3s' } });
      const stranger = new Stranger(kind, database);
      const sessionsEnded = (): Promise<void> =>
        eventually(async () => (await stranger.countSessions()) === 0, 'its sessions have ended');
      let afterwards: Promise<void> | undefined;
      const first = bench.tick((transaction) =>
        transaction.beforeCommit(async () => {
          const scene = { proxy, bench, sessionsEnded };
          await before(scene);
          afterwards = after?.(scene);
        }),
      );
      const startedAtMs = performance.now();
      if (isCommitted) await first;
      else await assert.rejects(first);
      const tookMs = performance.now() - startedAtMs;
      // A third limit would end after 9 s. A busy machine has the rest.
      assert.ok(tookMs < 8900, `one time limit for COMMIT, and one to read the row: ${tookMs} ms`);
      await afterwards;
      await eventually(() => bench.application.size() === 0, 'the pool has dropped the connection');
      await bench.is(isCommitted ? 'completed' : 'failed', isCommitted ? [1] : []);
      await bench.tick();
      assert.deepEqual(await bench.effects(), [isCommitted ? 1 : 2], 'once, with any further call');
    },
  );
}
