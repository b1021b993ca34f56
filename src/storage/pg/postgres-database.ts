import { refuseOption } from '../../core/options';
import { OwnServerConnections, SharedServerConnections } from '../sql/connections/server-connections';
import type { ConnectionPool, OpeningSession } from '../sql/connections/server-driver';
import { readAddress } from '../sql/database/application-source';
import {
  describeServer,
  requirePool,
  type ServerAddress,
  type SqlDatabase,
} from '../sql/database/sql-database';
import { postgres } from '../sql/dialects/postgres';
import { postgresDriver, postgresSessionOf, type PostgresClient } from './postgres-driver';

/** Options of pg, as they are passed to `new Pool`. */
export type PostgresOptions = Readonly<Record<string, unknown>>;

export interface PostgresSettings {
  /** The application can use the native client. */
  readonly Client: new (options: object) => object;
  readonly options: PostgresOptions;
  /** Without it, the connections cannot be shared. */
  readonly pool?: ConnectionPool | undefined;
  /** The schema of tables that name none. */
  readonly schema?: string | undefined;
}

/** Options that would change the meaning of answers, the time limits, or the number of connections. */
const EXCLUDED = new Set(
  (
    'max min maxUses maxLifetimeSeconds allowExitOnIdle idleTimeoutMillis Client Promise pipeline query_timeout ' +
    'statement_timeout lock_timeout idle_in_transaction_session_timeout connectionTimeoutMillis types binary parseInt8'
  ).split(' '),
);

/** Hooks of pg's pool. They prepare or refuse a new client. */
interface PoolHooks {
  readonly verify?: (client: object, done: (error?: Error) => void) => void;
  readonly onConnect?: (client: object) => unknown;
}

export function postgresDatabase({ Client, options, pool, schema }: PostgresSettings): SqlDatabase {
  const address = addressOf(Client, options);
  const wanted = targetSessionOf(options);
  const open = (limitMs: number): OpeningSession => {
    const client = new Client(ownPostgresOptions(options, limitMs)) as PostgresClient;
    return { session: postgresSessionOf(client), opened: connected(client, options, wanted) };
  };
  return {
    ...describeServer(postgres, address),
    schema,
    sessions: { driver: postgresDriver, open },
    ownConnections: (settings) => new OwnServerConnections(postgresDriver, open, settings),
    sharedConnections: (settings) => new SharedServerConnections(postgresDriver, requirePool(pool), settings),
  };
}

/** pg itself reads the connection string, and the environment for what is missing. A factory of sockets is not called. */
function addressOf(Client: PostgresSettings['Client'], options: PostgresOptions): ServerAddress {
  const form = { subpath: 'pg', example: 'postgres://user:password@host/database' };
  const client = readAddress(
    String(options['connectionString']),
    form,
    () => new Client({ ...options, password: options['password'], stream: undefined }),
  );
  const { host, port, database, password } = client as Partial<Record<string, string>>;
  const encoded = typeof password === 'string' ? encodeURIComponent(password) : undefined;
  return { host, port, database, secrets: [options['connectionString'], password, encoded] };
}

/** Takes from the application what leads to its database: address, credentials, TLS. */
export function ownPostgresOptions(options: PostgresOptions, connectTimeoutMs: number): PostgresOptions {
  const kept = Object.entries(options).filter(([key, value]) => value !== undefined && !EXCLUDED.has(key));
  // pg hides the password of a pool from enumeration.
  return {
    ...Object.fromEntries(kept),
    password: options['password'],
    connectionTimeoutMillis: connectTimeoutMs,
  };
}

/** Whether a session must be refused, by the value of libpq's `target_session_attrs`, which pg ignores. */
const REFUSALS = {
  any: undefined,
  'read-write': `current_setting('transaction_read_only') = 'on'`,
  primary: 'pg_is_in_recovery()',
};

type TargetSession = keyof typeof REFUSALS;

/** As in pg, a parameter of the address comes before an option. */
function targetSessionOf(options: PostgresOptions): TargetSession {
  const [, ofAddress] = /[?&]target_session_attrs=([^&#]*)/.exec(String(options['connectionString'])) ?? [];
  const wanted = ofAddress ?? options['target_session_attrs'] ?? 'any';
  if (typeof wanted === 'string' && Object.hasOwn(REFUSALS, wanted)) return wanted as TargetSession;
  refuseOption('target_session_attrs', wanted, `cronlatch writes, so use 'read-write', 'primary', or 'any'`);
}

async function connected(
  client: PostgresClient,
  { verify, onConnect }: PoolHooks,
  wanted: TargetSession,
): Promise<void> {
  await client.connect();
  if (verify !== undefined)
    await new Promise<void>((resolve, reject) =>
      verify(client, (error) => (error === undefined || error === null ? resolve() : reject(error))),
    );
  await onConnect?.(client);
  const refusal = REFUSALS[wanted];
  if (refusal === undefined) return;
  const text = `SELECT 1 WHERE ${refusal}`;
  const { rows } = await client.query({ name: undefined, text, values: [] });
  if (rows.length > 0)
    throw new Error(
      `target_session_attrs is '${wanted}', but the server is a standby or read-only: connect to the primary`,
    );
}
