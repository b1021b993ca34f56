/**
 * Locks in etcd 3.4 or later, over its JSON gateway, without a client library.
 *
 * @packageDocumentation
 */
export { EtcdLockProvider } from './etcd-lock-provider';
export type { EtcdLockProviderOptions } from './etcd-options';
