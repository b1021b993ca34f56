import { randomUUID } from 'node:crypto';
import type { Duration } from 'cronlatch';
import type { LockProviderFixture } from 'cronlatch/contracts';
import { EtcdLockProvider, type EtcdLockProviderOptions } from 'cronlatch/etcd';
import { SettableClock } from 'cronlatch/testing';
import { parseDuration } from '#cronlatch/core/duration';
import { runningServer } from '../servers/running';

/** The answers of the gateway as far as tests read them. */
interface Answer {
  readonly error?: string;
  readonly ID?: string;
  readonly TTL?: string;
  readonly grantedTTL?: string;
  readonly kvs?: readonly KeyValue[];
  readonly leases?: readonly { readonly ID: string }[];
  readonly [field: string]: unknown;
}

interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly lease?: string;
}

/** The endpoint of the server that the test run has started. */
export function etcdEndpoint(): string {
  const server = runningServer('etcd');
  if (server === undefined) throw new Error('There is no etcd: use testOn.');
  return new URL(server.url).origin;
}

/** Asks the gateway as an operator would. */
export async function etcd(endpoint: string, path: string, body: object): Promise<Answer> {
  const response = await fetch(new URL(`/v3/${path}`, endpoint), {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return (await response.json()) as Answer;
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Keys that no other test uses. */
export class EtcdPlace {
  readonly keyPrefix = `test-${randomUUID()}/`;

  constructor(readonly endpoint = etcdEndpoint()) {}

  provider(options: Partial<EtcdLockProviderOptions> = {}): EtcdLockProvider {
    return new EtcdLockProvider({ endpoints: this.endpoint, keyPrefix: this.keyPrefix, ...options });
  }

  /** All keys of locks. */
  async keys(): Promise<readonly KeyValue[]> {
    const range = {
      key: base64(`${this.keyPrefix}\0`),
      range_end: base64(this.keyPrefix.replace(/\/$/, '0')),
    };
    return (await etcd(this.endpoint, 'kv/range', range)).kvs ?? [];
  }

  async delete(name: string): Promise<void> {
    await etcd(this.endpoint, 'kv/deleterange', { key: base64(this.keyPrefix + name) });
  }

  /** Writes a key with a lease, as another program would. */
  async put(name: string, value: string, leaseMs: number): Promise<void> {
    const { ID } = await etcd(this.endpoint, 'lease/grant', { TTL: String(Math.ceil(leaseMs / 1000)) });
    await etcd(this.endpoint, 'kv/put', {
      key: base64(this.keyPrefix + name),
      value: base64(value),
      lease: ID,
    });
  }

  async dispose(): Promise<void> {
    for (const { lease } of await this.keys()) await etcd(this.endpoint, 'lease/revoke', { ID: lease });
    const range = { key: base64(this.keyPrefix), range_end: base64(this.keyPrefix.replace(/\/$/, '0')) };
    await etcd(this.endpoint, 'kv/deleterange', range);
  }
}

type Lacked = 'exactExpiry' | 'ambientTransaction' | 'staleReads';

/**
 * A clock moves the time of both providers, and of the server's leases: the fixture revokes a lease when the time that
 * the server has granted has passed, which is what the server does itself. A lease begins when the fixture first sees its
 * key, before time moves on.
 */
export function etcdFixture(place = new EtcdPlace()): LockProviderFixture<Lacked> {
  const clock = new SettableClock();
  const provider = place.provider({ clock });
  const other = place.provider({ clock });
  const endsAtMs = new Map<string, number>();
  /** Sees the new leases, and revokes those that end before `nowMs`. */
  const expire = async (sinceMs: number, nowMs: number): Promise<void> => {
    for (const { lease: ID } of await place.keys()) {
      if (ID === undefined) continue;
      if (!endsAtMs.has(ID)) {
        const { grantedTTL } = await etcd(place.endpoint, 'lease/timetolive', { ID });
        endsAtMs.set(ID, sinceMs + Number(grantedTTL) * 1000);
      }
      if ((endsAtMs.get(ID) ?? 0) <= nowMs) await etcd(place.endpoint, 'lease/revoke', { ID });
    }
  };
  return {
    provider,
    other,
    async elapse(duration: Duration) {
      const sinceMs = clock.monotonicMs();
      await expire(sinceMs, sinceMs + parseDuration(duration, 'elapse'));
      clock.advance(duration);
    },
    async stall(duration: Duration) {
      const sinceMs = clock.monotonicMs();
      clock.stall(duration);
      await expire(sinceMs, clock.monotonicMs());
    },
    deleteRecord: (name) => place.delete(name),
    async existingRecord({ name, lockedBy, endsInMs }) {
      if (endsInMs <= 0) await place.delete(name);
      else await place.put(name, lockedBy, endsInMs);
    },
    async dispose() {
      await Promise.all([provider.close(), other.close()]);
      await place.dispose();
    },
  };
}
