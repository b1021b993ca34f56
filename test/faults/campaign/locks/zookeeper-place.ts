import { promisify } from 'node:util';
import { createClient } from 'node-zookeeper-client';
import { closing } from '../../../support/benches/closing';
import { ensembleOf } from '../../../support/servers/own';
import type { LockPlace } from './lock-place';

const ROOT = '/cronlatch';

export async function openZooKeeper(): Promise<LockPlace> {
  const ensemble = await ensembleOf('zookeeper');
  return {
    protocol: 'zookeeper',
    version: ensemble.version,
    servers: ensemble.members,
    ensemble,
    sentinels: [],
    async deleteLock(name) {
      const { url } = await ensemble.leader();
      await using client = closing(createClient(new URL(url).host, { sessionTimeout: 5000 }));
      const limit = AbortSignal.timeout(5000);
      client.connect();
      await Promise.race([deleteNodes(client, `${ROOT}/${name}`), rejectedBy(limit)]);
    },
    heldLocks: () => Promise.resolve([]),
    close: () => ensemble.stop(),
  };
}

async function deleteNodes(client: ReturnType<typeof createClient>, lock: string): Promise<void> {
  const nodes = await promisify<string, string[]>(client.getChildren.bind(client))(lock);
  const remove = promisify<string, void>(client.remove.bind(client));
  // Those that wait behind the first one are the workers' own, and are gone with their attempts.
  await Promise.all(nodes.map((node) => remove(`${lock}/${node}`)));
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('The time limit has passed.')), { once: true }),
  );
}
