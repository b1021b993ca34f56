import assert from 'node:assert/strict';
import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';

/** Without a file: other tests cover its use of databases. */
export async function use() {
  const invalid = { code: 'CRONLATCH_INVALID_CONFIGURATION' };
  await assert.rejects(createJobGuard('sqlite:'), invalid);
  // @ts-expect-error -- it must be a database or an address
  await assert.rejects(createTables(5), invalid);
}
