import { createSecureContext } from 'node:tls';
import { InvalidLockConfigurationError, type StorageBasedLockProviderOptions } from '../../core';
import { callOption, checkOptionNames, refuseOption } from '../../core/options';

export interface EtcdLockProviderOptions extends Omit<StorageBasedLockProviderOptions, 'keepRows'> {
  /** The client addresses of the cluster, such as `https://etcd-1:2379`: all with `http:`, or all with `https:`. */
  readonly endpoints: string | readonly string[];
  /** The beginning of all keys: equal on all instances, and not that of another prefix. Default `cronlatch/`. */
  readonly keyPrefix?: string | undefined;
  /** For a server with authentication. */
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** The certificate of the authority that has signed those of the servers, as PEM. Default: those of Node. */
  readonly ca?: string | Buffer | undefined;
  /** A certificate of this client and its private key, as PEM. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

const PAIRS = [
  ['user', 'password'],
  ['cert', 'key'],
] as const;
const LOCKS = ['id', 'nameLength', 'statementTimeout', 'clock', 'random'];
const OPTIONS = ['endpoints', 'keyPrefix', 'ca', ...LOCKS, ...PAIRS.flat()];

export function checkEtcdOptions(options: EtcdLockProviderOptions): readonly URL[] {
  checkOptionNames(options, OPTIONS, 'EtcdLockProvider');
  const { keyPrefix = 'cronlatch/', ca, cert, key } = options;
  if (typeof keyPrefix !== 'string' || keyPrefix === '')
    refuseOption('keyPrefix', keyPrefix, 'it must be a string that is not empty');
  for (const [one, other] of PAIRS)
    if (Boolean(options[one]) !== Boolean(options[other]))
      throw new InvalidLockConfigurationError(
        `${one} and ${other} of EtcdLockProvider belong together: set both.`,
      );
  const endpoints = [options.endpoints].flat().map(endpointOf);
  const protocols = new Set(endpoints.map(({ protocol }) => protocol));
  if (protocols.size !== 1)
    throw new InvalidLockConfigurationError(
      'endpoints must name at least one server, and all with http: or all with https:.',
    );
  if (protocols.has('http:') && (ca ?? cert) !== undefined)
    throw new InvalidLockConfigurationError('ca, cert and key need endpoints with https:.');
  const failed = 'ca, cert or key is not valid PEM, or the two do not match.';
  callOption(() => createSecureContext({ ca, cert, key }), failed);
  return endpoints;
}

/** The message does not show the address, which may contain a password. */
function endpointOf(given: unknown, index: number): URL {
  if (typeof given === 'string' && URL.canParse(given)) {
    const url = new URL(given);
    if (/^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url;
  }
  throw new InvalidLockConfigurationError(
    `Endpoint ${index + 1} is not an address such as 'http://127.0.0.1:2379'. It is http: or https:, a host and a port. Credentials are the options user and password.`,
  );
}
