import assert from 'node:assert/strict';
import { inRunTransaction } from 'cronlatch/typeorm';
import { eventually } from '../../../support/eventually';
import { Stranger } from '../../../support/stranger';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../../../support/tcp-proxy';
import { testServerTransactions, type TransactionBench } from '../../../support/transaction-bench';

interface Scene {
  readonly proxy: TcpProxy;
  readonly bench: TransactionBench;
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
  testServerTransactions(`${name}: it is ${isCommitted ? '' : 'not '}completed (L-19)`, async (server) => {
    const { kind, database, open } = server;
    const proxy = await tcpProxy(targetOf(database.url));
    const url = throughProxy(database.url, proxy);
    const bench = await open({ application: { url, poolSize: 1 }, guard: { statementTimeout: '1s' } });
    const stranger = new Stranger(kind, database);
    try {
      const others = 1; // The operator's own session.
      const sessionsEnded = (): Promise<void> =>
        eventually(async () => (await stranger.countSessions()) === others, 'its sessions have ended');
      const scene = { proxy, bench, sessionsEnded };
      let afterwards: Promise<void> | undefined;
      bench.application.subscribers.push({
        async beforeTransactionCommit() {
          bench.application.subscribers.length = 0;
          await before(scene);
          afterwards = after?.(scene);
        },
      });
      const handler = (): Promise<void> => inRunTransaction((manager) => bench.effect(manager));
      const first = bench.run(handler);
      if (isCommitted) await first;
      else await assert.rejects(first);
      await afterwards;
      assert.equal((await bench.row()).state, isCommitted ? 'completed' : 'failed');
      assert.deepEqual(await bench.effects(), isCommitted ? [1] : []);
      await bench.run(handler);
      assert.deepEqual(await bench.effects(), [isCommitted ? 1 : 2], 'once, with any further call');
    } finally {
      await proxy.close();
    }
  });
}
