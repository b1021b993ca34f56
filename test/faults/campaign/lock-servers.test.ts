import { testOnOwn } from '../../support/servers/test-on';
import { shortCampaign } from './short-campaign';

for (const server of ['redis', 'zookeeper', 'etcd'] as const) {
  testOnOwn(server, 'a short campaign keeps all promises, with the ledger in SQLite', () =>
    shortCampaign(server, '0.15'),
  );
}
