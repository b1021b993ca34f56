import { systemClock } from '../../../core';
import { Connections } from '../connections/connections';
import { isPooled, isSplit, POOLED, SPLIT, type Ask } from '../connections/proxy-check';
import { OwnServerConnections } from '../connections/server-connections';
import type { ServerDriver } from '../connections/server-driver';
import { translateDriverError } from '../statements/sql-failure';
import type { SqlDatabase } from '../connections/sql-database';
import type { SqlDialect } from '../dialects/sql-dialect';
import { finding, type Finding } from '../connections/finding';

const LIMIT_MS = 5000;

/**
 * A session in which cronlatch sets nothing, so that it shows what other sessions begin with. SQLite has no sessions, so
 * there it is a connection like the guard's. Its statements reject with a LockStorageError.
 */
export function plainSession(database: SqlDatabase): {
  readonly ask: Ask;
  readonly end: () => Promise<void>;
} {
  const { dialect, sessions } = database;
  const limits = { clock: systemClock, statementTimeoutMs: LIMIT_MS, warn: () => {} };
  const plain = { size: 1, whenFull: '', settings: [], idleForMs: 10 * LIMIT_MS };
  const source =
    sessions === undefined
      ? database.connect(limits)
      : new OwnServerConnections(sessions.driver, sessions.open, limits, plain);
  const plainConnections = new Connections(source, dialect, systemClock);
  return {
    ask: async (text) => {
      const statement = { id: '', text, values: [] };
      const answer = plainConnections.run((session, endsAtMs) => session.execute(statement, endsAtMs), {
        timeoutMs: LIMIT_MS,
      });
      const { rows } = await answer.catch((error: unknown) => {
        const subject = 'the examination';
        throw translateDriverError(error, { ...database, subject, tableName: '', remedy: '' });
      });
      return rows;
    },
    end: () => plainConnections.close(),
  };
}

/** A proxy can choose for each session which server answers its reads, and may choose the primary. */
const SESSIONS = 6;

export async function judgeProxies(
  database: SqlDatabase,
  driver: ServerDriver,
  ask: Ask,
): Promise<Finding[]> {
  for (let number = 1; number <= SESSIONS; number += 1) {
    const other = plainSession(database);
    try {
      if (number === 1 && (await isPooled(driver, ask, other.ask))) return [POOLED];
      if (await isSplit(driver, other.ask)) return [SPLIT];
    } finally {
      await other.end();
    }
  }
  return [];
}

/** How far the database's clock is ahead of this host's, and how far that can be wrong: half of the round trip. */
export async function clockOffset(dialect: SqlDialect, ask: Ask) {
  const now = dialect.inspection.now({ type: '', precision: 6 });
  const text = `SELECT ${dialect.runFragments({ now }).us(now)} AS now_us`;
  let best = { offsetMs: 0, uncertaintyMs: Infinity };
  for (let round = 1; round <= 3; round += 1) {
    const [sentAtMs, startedAtMs] = [Date.now(), performance.now()];
    const [row] = await ask(text);
    const uncertaintyMs = (performance.now() - startedAtMs) / 2;
    const offsetMs = Number(row?.['now_us']) / 1000 - sentAtMs - uncertaintyMs;
    if (uncertaintyMs < best.uncertaintyMs) best = { offsetMs, uncertaintyMs };
  }
  return best;
}

/** From 5 minutes on, the default of `maxSkew`, once-per jobs no longer trust the clock of their host. */
export function judgeClock({ offsetMs, uncertaintyMs }: Awaited<ReturnType<typeof clockOffset>>): Finding[] {
  const leastMs = Math.abs(offsetMs) - uncertaintyMs;
  const difference = `${(Math.abs(offsetMs) / 1000).toFixed(1)} s ${offsetMs > 0 ? 'behind' : 'ahead of'}`;
  const problem = `The clock of this machine is ${difference} the server's. Instances with such a clock tick at another time.`;
  return leastMs < 1000 ? [] : [finding(leastMs < 300_000 ? 'clock-offset' : 'clock-wrong', problem)];
}
