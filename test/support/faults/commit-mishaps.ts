import { eventually } from '../clocks/eventually';
import type { TcpProxy } from './tcp-proxy';

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

export const MISHAPS: readonly Mishap[] = [
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
