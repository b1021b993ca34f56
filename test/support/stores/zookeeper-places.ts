import type { Duration } from 'cronlatch';
import type { LockProviderFixture } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import type { Client } from 'node-zookeeper-client';
import { RequestsInFlight } from '../faults/requests-in-flight';
import { connectedClient, nodePath, removeNodes } from '../servers/zookeeper';
import type { CONTRACT_STORES } from './variants';

interface Session {
  readonly client: Client;
  readonly sent: RequestsInFlight;
}

/**
 * Two sessions that several cases use in turn, each case below a path of its own. The holders of the contract live, so
 * they delete their nodes at the end of their leases by the clock that `elapse` moves. The sessions last in real time.
 */
export class ZooKeeperPlaces {
  #sessions: Promise<readonly [Session, Session]> | undefined;

  async fixture(): Promise<LockProviderFixture<ZooKeeperLacks>> {
    const [first, second] = await (this.#sessions ??= Promise.all([openSession(), openSession()]));
    const path = nodePath();
    const clock = new SettableClock();
    const provider = new ZooKeeperLockProvider({ client: first.sent.of(first.client), path, clock });
    const other = new ZooKeeperLockProvider({ client: second.sent.of(second.client), path, clock });
    const answered = async (): Promise<void> => {
      await Promise.all([first.sent.ended(), second.sent.ended()]);
    };
    return {
      provider,
      other,
      async elapse(duration: Duration) {
        clock.advance(duration);
        await answered();
      },
      deleteRecord: async (name) => await removeNodes(first.client, `${path}/${encodeURIComponent(name)}`),
      dispose: async () => {
        await Promise.all([provider.close(), other.close()]);
        await removeNodes(first.client, path);
      },
    };
  }

  async dispose(): Promise<void> {
    for (const { client } of (await this.#sessions) ?? []) client.close();
  }
}

export type ZooKeeperLacks = keyof (typeof CONTRACT_STORES)['zookeeper']['lacks'];

async function openSession(): Promise<Session> {
  return { client: await connectedClient(), sent: new RequestsInFlight() };
}
