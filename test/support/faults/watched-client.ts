import type { Client } from 'node-zookeeper-client';

/** Called before a watch is set, and when it fires. */
export interface WatchHooks {
  /** The request that sets the watch is sent when this resolves. */
  readonly beforeWatch?: () => Promise<void>;
  readonly onFired?: () => void;
}

type Call = (...args: unknown[]) => void;

const WATCHING = new Set(['exists', 'getData', 'getChildren']);

/** The same client, whose watches a test observes. */
export function watchedClient(client: Client, { beforeWatch, onFired }: WatchHooks): Client {
  return new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as Call;
      if (!WATCHING.has(String(name))) return call;
      return (path: string, ...rest: Call[]) => {
        const [watcher, callback] = rest;
        if (watcher === undefined || callback === undefined) return call(path, ...rest);
        const fired: Call = (...event) => {
          onFired?.();
          watcher(...event);
        };
        void (beforeWatch?.() ?? Promise.resolve()).then(() => call(path, fired, callback));
      };
    },
  });
}
