import { refuseOption } from '../../core/options';

export const CONNECTION_LOSS = -4;
export const NO_NODE = -101;
export const NODE_EXISTS = -110;
export const SESSION_EXPIRED = -112;

export const PERSISTENT = 0;
export const EPHEMERAL_SEQUENTIAL = 3;

export type Answer<T extends unknown[]> = (error: unknown, ...values: T) => void;

/** Access rights, made with the `ACL` of the package. */
export type ZooKeeperAcl = readonly object[];

export interface NodeStat {
  /** The id of the transaction that created the node: 8 bytes. */
  readonly czxid: Buffer;
  /** When the node was created, by the server's clock: 8 bytes. */
  readonly ctime: Buffer;
}

/** A client of the package `node-zookeeper-client`. The application connects it, and closes it. */
export interface ZooKeeperClient {
  create(path: string, data: Buffer, acls: never[], mode: number, answer: Answer<[string]>): void;
  remove(path: string, answer: Answer<[]>): void;
  setData(path: string, data: Buffer, answer: Answer<[NodeStat]>): void;
  getData(path: string, answer: Answer<[Buffer | undefined, NodeStat]>): void;
  getChildren(path: string, answer: Answer<[string[]]>): void;
  getChildren(path: string, watcher: () => void, answer: Answer<[string[]]>): void;
  transaction(): { check(path: string): { commit(answer: Answer<[]>): void } };
  getState(): { readonly name: string };
  getSessionTimeout(): number;
  on(event: 'state', listener: (state: { readonly name: string }) => void): unknown;
  removeListener(event: 'state', listener: (state: { readonly name: string }) => void): unknown;
}

const METHODS =
  'create remove setData getData getChildren transaction getState getSessionTimeout on removeListener';

/** @throws InvalidLockConfigurationError for anything but a client of `node-zookeeper-client` */
export function checkClient(client: unknown): asserts client is ZooKeeperClient {
  const isObject = typeof client === 'object' && client !== null;
  const has = (method: string): boolean =>
    isObject && typeof (client as Record<string, unknown>)[method] === 'function';
  if (METHODS.split(' ').every(has)) return;
  refuseOption(
    'client',
    client,
    'pass a client of the package node-zookeeper-client, made with createClient()',
  );
}

export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
