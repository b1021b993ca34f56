/** The kinds of driver errors that all dialects share. */
export type SqlFailureKind =
  'duplicate' | 'contention' | 'unknown' | 'refused' | 'not-the-primary' | 'missing-table' | 'wrong-shape';

/** After these errors the connection can be used again. After any other it is closed. */
const HARMLESS: ReadonlySet<SqlFailureKind> = new Set([
  'duplicate',
  'contention',
  'missing-table',
  'wrong-shape',
]);

export function leavesConnectionUsable(kind: SqlFailureKind): boolean {
  return HARMLESS.has(kind);
}

/** The parts of a driver's error that the dialects check. */
export interface DriverError {
  readonly code: string | undefined;
  readonly errno: number | undefined;
  readonly message: string;
}

export function driverErrorOf(error: unknown): DriverError {
  const { code, errno } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  return {
    code: typeof code === 'string' ? code : undefined,
    errno: typeof errno === 'number' ? errno : undefined,
    message: messageOf(error),
  };
}

/** If Node cannot connect to any address of a host, only the inner errors have messages. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  const message = (error as Partial<Error> | null | undefined)?.message;
  return typeof message === 'string' ? message : String(error);
}

/** Node's codes for a connection that was never established. */
export const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
]);
