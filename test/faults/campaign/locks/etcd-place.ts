import { ensembleOf } from '../../../support/servers/own';
import type { LockPlace } from './lock-place';

const PREFIX = 'cronlatch/';

export async function openEtcd(): Promise<LockPlace> {
  const ensemble = await ensembleOf('etcd');
  return {
    protocol: 'etcd',
    version: ensemble.version,
    servers: ensemble.members,
    ensemble,
    sentinels: [],
    async deleteLock(name) {
      const { url } = await ensemble.leader();
      const answer = await fetch(new URL('/v3/kv/deleterange', url), {
        method: 'POST',
        body: JSON.stringify({ key: Buffer.from(PREFIX + name).toString('base64') }),
        signal: AbortSignal.timeout(5000),
      });
      if (!answer.ok) throw new Error(`etcd answered ${answer.status}.`);
    },
    heldLocks: () => Promise.resolve([]),
    close: () => ensemble.stop(),
  };
}
