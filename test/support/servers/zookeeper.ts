import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createClient, Exception, type Client, type Option } from 'node-zookeeper-client';
import { urlOn } from './running';

/** `host:port`, with a chroot if there is one. */
export function zooKeeperAddress(): string {
  const { host, pathname } = new URL(urlOn('zookeeper'));
  return pathname === '/' ? host : `${host}${pathname}`;
}

export async function connectedClient(
  address = zooKeeperAddress(),
  options: Partial<Option> = {},
): Promise<Client> {
  const client = createClient(address, { sessionTimeout: 10_000, spinDelay: 50, ...options });
  const connected = once(client, 'connected');
  client.connect();
  await connected;
  return client;
}

/** A path that no other test uses. */
export function nodePath(): string {
  return `/cronlatch-test-${randomUUID()}`;
}

/** The answer to a request of a client. */
function answerOf<T>(
  request: (answer: (error: Error | Exception | null, value: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) =>
    request((error, value) => {
      if (!error) resolve(value);
      else reject(error instanceof Error ? error : new Error(error.name, { cause: error }));
    }),
  );
}

/** Removes a node and all below it, if it is there. */
export async function removeNodes(client: Client, path: string): Promise<void> {
  for (const child of await childrenOf(client, path)) await removeNodes(client, `${path}/${child}`);
  await answerOf((answer) => client.remove(path, (error) => answer(error, undefined))).catch(ifMissing);
}

/** The names of the nodes below a node; none if it is not there. */
export async function childrenOf(client: Client, path: string): Promise<string[]> {
  const read = answerOf<string[]>((answer) => client.getChildren(path, answer));
  return (await read.catch(ifMissing)) ?? [];
}

function ifMissing(error: Error): undefined {
  if (!('code' in error) || error.code !== Exception.NO_NODE) throw error;
}
