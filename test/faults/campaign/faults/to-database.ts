import { machineMs } from '../../../processes/machine-time';
import { LOCK_NAMES } from '../worker/orders';
import { everywhere, onDatabases, onSingleServers, type Fault, type Field } from './fault';

/** Runs the operator's statement, unless the server is down. */
async function tryStatement(
  { place }: Field,
  statement: string,
): Promise<{ readonly rows: Record<string, unknown>[] } | undefined> {
  try {
    return { rows: await place.ask(statement) };
  } catch {
    return undefined; // No fault happened, so none is counted.
  }
}

export const LOCK_ROW_DELETED = 'lock row deleted';

const rowDeleted: Fault = {
  kind: LOCK_ROW_DELETED,
  everyMs: 8000,
  isFor: everywhere,
  async strike({ place, random, note }) {
    const name = random.pick(LOCK_NAMES);
    const fromMs = machineMs();
    const kind = await place.deleteLock(name).then(
      () => LOCK_ROW_DELETED,
      // The server is down, or its reply was lost.
      () => `${LOCK_ROW_DELETED}, unconfirmed`,
    );
    note({ kind, name, fromMs, untilMs: machineMs() });
  },
};

const SESSIONS = {
  mysql: `SELECT id FROM information_schema.processlist WHERE db = 'chaos' AND id <> CONNECTION_ID()`,
  postgres: `SELECT pid AS id FROM pg_stat_activity WHERE datname = 'chaos' AND pid <> pg_backend_pid()`,
};

const sessionKilled: Fault = {
  kind: 'session ended by the operator',
  everyMs: 8000,
  isFor: onDatabases,
  async strike(field) {
    const isPostgres = field.place.type === 'postgres';
    const sessions = await tryStatement(field, isPostgres ? SESSIONS.postgres : SESSIONS.mysql);
    const ids = sessions?.rows.map((session) => Number(session['id'] ?? session['ID'])) ?? [];
    if (ids.length === 0) return;
    const id = field.random.pick(ids);
    const fromMs = machineMs();
    const answer = await tryStatement(
      field,
      isPostgres ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`,
    );
    if (answer) field.note({ kind: 'session ended by the operator', fromMs, untilMs: machineMs() });
  },
};

const serverKilled: Fault = {
  kind: 'server killed',
  everyMs: 40_000,
  isFor: onSingleServers,
  isAlone: true,
  async strike({ place: { server }, note }) {
    const fromMs = machineMs();
    await server?.kill('SIGKILL');
    await server?.restart();
    note({ kind: 'server killed', fromMs, untilMs: machineMs() });
  },
};

export const TO_DATABASE: readonly Fault[] = [rowDeleted, sessionKilled, serverKilled];
