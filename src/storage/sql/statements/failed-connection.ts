/** The database, for messages. */
export interface ConnectionContext {
  /** Without credentials. */
  readonly address: string;
  readonly name: string | undefined;
  readonly user?: string | undefined;
  readonly dialect: { readonly name: string };
}

/** The servers' codes for a missing privilege. */
export const NO_RIGHT: ReadonlySet<string | undefined> = new Set(
  'ER_DBACCESS_DENIED_ERROR ER_TABLEACCESS_DENIED_ERROR ER_COLUMNACCESS_DENIED_ERROR 42501'.split(' '),
);

/** By the code of a driver or a server. */
const REMEDIES: Readonly<Record<string, string>> = {
  ER_BAD_DB_ERROR: ' Create the database, or correct its name.',
  '3F000': ' Create the schema, or correct its name.',
  SQLITE_CANTOPEN: ' Check that the file exists, and that this user may read and write it.',
};

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host is unknown',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ETIMEDOUT: 'it does not answer in time',
};

/** What to do about a driver's error, after a blank. Empty if that is unknown. */
export function remedyOf(
  { code = '', message }: { readonly code?: string | undefined; readonly message: string },
  user = 'USER',
): string {
  if (!NO_RIGHT.has(code)) return REMEDIES[code] ?? '';
  // No command prints the right to delete, because few features need it. PostgreSQL does not report which right is missing.
  const [, denied, table = ''] =
    /(DELETE command|permission) denied (?:to user \S+ )?for table (\S+)/.exec(message) ?? [];
  const grant = `GRANT DELETE ON ${table.replaceAll(/['`"]/g, '')} TO ${user}`;
  if (denied === 'DELETE command') return ` Grant this right, or use another user: ${grant}.`;
  const rest = denied === undefined ? '' : ` They leave out the right to delete: ${grant}.`;
  return ` Grant this right, or use another user: npx cronlatch doctor and npx cronlatch init --dry-run print the statements.${rest}`;
}

/** Why no connection could be opened, in the words of an operator. The driver's message adds what only it knows. */
export function describeFailedConnection(
  error: { readonly code?: string | undefined; readonly message: string },
  { dialect, address, name, user }: ConnectionContext,
): string {
  const { code = '', message } = error;
  const login = user === undefined ? address : `${address} as ${user}`;
  if (code in UNREACHABLE) return `Cannot reach ${address}: ${UNREACHABLE[code]} (${message}).`;
  if (code === 'ER_BAD_DB_ERROR' || code === '3D000')
    return `There is no database '${name}' on ${address}. Create it, or correct its name.`;
  if (code === 'ER_ACCESS_DENIED_ERROR' || code === '28P01')
    return `Cannot log in to ${login}: the server refused the user name or the password (${message}).`;
  if (code === '28000') return `Cannot log in to ${login}: ${message}.`;
  if (NO_RIGHT.has(code)) return `Cannot use database '${name}' on ${login}: ${message}.`;
  return `Cannot ${dialect.name === 'sqlite' ? 'open' : 'connect to'} ${address}: ${message}.${remedyOf(error, user)}`;
}
