import { LockStorageError } from '../../core';
import { describeValue } from '../../core/options';

/** What to do about errors of the server. Each script writes at most once, so nothing was written. */
const ADVICE: Readonly<Record<string, string>> = {
  READONLY: 'The server is a replica. Connect to the primary.',
  MASTERDOWN: 'The server is a replica without its primary. Connect to the primary.',
  LOADING: 'The server is still reading its data. Wait until it has started.',
  CLUSTERDOWN: 'The cluster has no node for this key. Check its nodes.',
  MOVED: 'The server is a node of a cluster. Pass a client of the cluster.',
  NOAUTH: 'Give the client a user and a password.',
  WRONGPASS: 'Check the user and the password of the client.',
  NOPERM:
    'Allow this user EVALSHA, EVAL, TIME, GET, SET, PTTL and PUBLISH, on keys and channels that begin with keyPrefix.',
  OOM: 'The server has reached maxmemory. Give it more memory.',
  WRONGTYPE: 'Another program uses this key. Choose another keyPrefix.',
  MISCONF: 'The server cannot write to its disk. Check its log.',
  NOREPLICAS: 'Fewer replicas are connected than min-replicas-to-write requires.',
  BUSY: 'Another script runs for too long.',
  TRYAGAIN: 'The cluster is moving this slot to another node.',
};

const WORTH_A_RETRY = ['BUSY', 'TRYAGAIN'];

/** What ioredis and node-redis report about a command that they did not send. */
const NEVER_SENT = [
  'enableOfflineQueue options is false',
  'Connection in subscriber mode',
  'The client is closed',
  'The client is offline',
  'The queue is full',
];

/** Never exposes the client's error itself, because it may hold the command that sent the password. */
export function redisErrorOf(error: unknown, name: string): LockStorageError {
  if (error instanceof LockStorageError) return error;
  const message = messageOf(error);
  const reply = replyCodeOf(message) ?? '';
  const socketCode = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const driverCode = reply || socketCode;
  const details = { cause: Object.assign(new Error(message), { code: driverCode }), driverCode };
  const isUnsent = NEVER_SENT.some((part) => message.includes(part));
  const advice = isUnsent ? "Check the client's connection." : ADVICE[reply];
  if (advice === undefined)
    return new LockStorageError(`Redis may have run the statement for lock '${name}': ${message}.`, details);
  return new LockStorageError(`Redis did not run the statement for lock '${name}': ${message}. ${advice}`, {
    ...details,
    outcome: WORTH_A_RETRY.includes(reply) ? 'contention' : 'nothing-ran',
  });
}

/** The code at the beginning of the server's error. Errors of commands in scripts have other forms. */
export function replyCodeOf(message: string): string | undefined {
  if (message.startsWith("ERR The user executing the script can't")) return 'NOPERM';
  return /^(?:ERR .*?: -)?([A-Z]{3,})\b/s.exec(message)?.[1];
}

/** Without the credentials of an address. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : describeValue(error);
  return text.replace(/\/\/\S*@/g, '//***@').replace(/[.\s]+$/, '');
}
