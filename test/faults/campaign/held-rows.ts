import type { DatabaseName } from '../../support/databases/fresh';
import type { HeldLock } from './locks/lock-place';

/** By the server's clock. The margin is harmless, because a held row is held for seconds. */
const HELD = {
  mysql: 'lock_until > UTC_TIMESTAMP(6)',
  mariadb: 'lock_until > UTC_TIMESTAMP(6)',
  postgres: 'lock_until > clock_timestamp()',
  sqlite: `lock_until > CAST(unixepoch('subsec') * 1000000 AS INTEGER)`,
} as const;

/** Reads the lock table. */
export const HELD_ROWS = Object.fromEntries(
  Object.entries(HELD).map(([type, held]) => [
    type,
    `SELECT name, locked_by, fencing_token FROM shedlock WHERE ${held} AND name LIKE 'job-%'`,
  ]),
) as Readonly<Record<DatabaseName, string>>;

export function heldRows(rows: readonly Record<string, unknown>[]): readonly HeldLock[] {
  return rows.flatMap((row) => {
    const owner = String(row['locked_by']);
    if (owner.endsWith('/released')) return []; // Held for lockAtLeastFor.
    return [{ name: String(row['name']), owner, token: Number(row['fencing_token']) }];
  });
}
