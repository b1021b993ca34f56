import type { EtcdLockProvider, EtcdLockProviderOptions } from 'cronlatch/etcd';
import { observedGateway, type ObservedGateway } from '../faults/etcd-gateway';
import { testOn } from '../servers/test-on';
import { EtcdPlace } from '../stores/etcd-place';
import { closing } from './closing';

export const JOB = { name: 'job', lockAtMostFor: '10m' };

/** A provider whose requests a test observes. All of it ends with the test. */
export interface EtcdBench {
  readonly place: EtcdPlace;
  readonly gateway: ObservedGateway;
  /** Through the gateway. */
  readonly provider: EtcdLockProvider;
  /** Directly, unless the options name the gateway. */
  readonly open: (options?: Partial<EtcdLockProviderOptions>) => EtcdLockProvider;
}

export function testEtcd(
  name: string,
  body: (bench: EtcdBench) => Promise<void>,
  options: Partial<EtcdLockProviderOptions> = {},
): void {
  testOn('etcd', name, async () => {
    await using place = closing(new EtcdPlace());
    await using gateway = closing(await observedGateway());
    const providers: EtcdLockProvider[] = [];
    const open: EtcdBench['open'] = (more) => {
      const opened = place.provider(more);
      providers.push(opened);
      return opened;
    };
    const provider = open({ endpoints: gateway.url, ...options });
    try {
      await body({ place, gateway, provider, open });
    } finally {
      await Promise.all(providers.map((each) => each.close()));
    }
  });
}
