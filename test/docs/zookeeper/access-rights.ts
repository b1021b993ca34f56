import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { ACL, Id, Permission, type Client } from 'node-zookeeper-client';

export function locksOf(client: Client, password: string) {
  client.addAuthInfo('digest', Buffer.from(`billing:${password}`));
  const acl = [new ACL(Permission.ALL, new Id('auth', ''))];
  return new ZooKeeperLockProvider({ client, path: '/billing-locks', acl });
}
