import { LockStorageError, type StorageOutcome } from '../../core';

/** The fields that cronlatch reads. 64-bit integers are strings, and a field with its default value is missing. */
export interface EtcdAnswer {
  readonly header: { readonly revision: string };
  readonly kvs?: readonly KeyValue[];
  readonly succeeded?: boolean;
  readonly responses?: readonly { readonly response_range?: Pick<EtcdAnswer, 'kvs'> }[];
  readonly token?: string;
}

export interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly create_revision: string;
}

export interface EtcdFailure {
  readonly why: string;
  readonly outcome: StorageOutcome;
  /** Whether another endpoint may do better. */
  readonly isOfEndpoint: boolean;
  readonly code?: string;
  readonly cause?: Break;
}

export type Answer = { readonly json: EtcdAnswer } | { readonly failure: EtcdFailure };

/** The codes of gRPC with which etcd refuses a request before it has any effect. */
const REFUSED = new Set([3, 5, 7, 8, 9, 11, 12, 16]);
/** The endpoint cannot execute any request now. */
const WRONG_MEMBER = /learner|no leader|not capable/;
/** etcd may find that out when it has executed the request. */
const FULL = /space exceeded/;

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/permission denied/, 'Grant the user read and write permission for the prefix of the keys.'],
  [/user name is empty/, 'The server wants authentication: set user and password.'],
  [/authentication failed/, 'Check user and password.'],
  [/authentication is not enabled/, 'Enable authentication on the server, or leave out user and password.'],
  [FULL, 'Compact and defragment the database, and disarm the alarm.'],
  [/learner/, 'A learner keeps no locks: leave it out of endpoints.'],
  [
    /no leader|timed out|leader changed/,
    'Check that a majority of the members runs, and how fast their disks are.',
  ],
  [/lease not found/, 'The lease ended before the lock was written: check why the server is slow.'],
  [
    /CERT|TLS|SSL|EPROTO|SIGNATURE|unsent ECONNRESET/,
    'Check ca, cert and key, and whether the server wants http: or https:.',
  ],
];

export function answerOf(status: number | undefined, text: string): Answer {
  const body = parsed(text);
  const json = body?.['result'] ?? body;
  if (status === 200 && typeof json === 'object' && json !== null && 'header' in json)
    return { json: json as EtcdAnswer };
  const { error, code } = body ?? {};
  if (typeof error === 'string' && typeof code === 'number') return { failure: refusal(error, code) };
  const why = `it answered with status ${status}, but not as etcd 3.4 or later does. Check the address, and that the JSON gateway is enabled.`;
  // A proxy may answer for a server that has executed the request.
  return { failure: { why, outcome: 'unknown', isOfEndpoint: true } };
}

export type Break = Pick<NodeJS.ErrnoException, 'message' | 'code'>;

/** @param isSent whether the request may have reached the server */
export function brokenOff(cause: Break, isSent: boolean): EtcdFailure {
  const { message, code = '' } = cause;
  // With TLS 1.3, the server refuses a client's certificate after the client has begun to send.
  const isRefused = !isSent || /ALERT.*(CERTIFICATE|UNKNOWN_CA)/.test(code);
  const outcome = isRefused ? 'nothing-ran' : 'unknown';
  return {
    why: withRemedy(message, `${isSent ? '' : 'unsent '}${code} ${message}`),
    outcome,
    isOfEndpoint: true,
    code,
    ...(cause instanceof Error && { cause }),
  };
}

/** @param code matches the message of the server */
export function isFailure(error: unknown, code: RegExp): boolean {
  return error instanceof LockStorageError && code.test(error.driverCode ?? '');
}

export function parsed(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // Not written by etcd, or by cronlatch.
  }
}

function refusal(error: string, code: number): EtcdFailure {
  const isWrongMember = WRONG_MEMBER.test(error);
  const isRefused = REFUSED.has(code) || isWrongMember;
  const mayHaveRun = !isRefused || FULL.test(error);
  const outcome = /too many requests/.test(error) ? 'contention' : mayHaveRun ? 'unknown' : 'nothing-ran';
  return { why: withRemedy(error, error), outcome, isOfEndpoint: isWrongMember || !isRefused, code: error };
}

function withRemedy(why: string, code: string): string {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(code))?.[1];
  return remedy === undefined ? why : `${why}. ${remedy}`;
}
