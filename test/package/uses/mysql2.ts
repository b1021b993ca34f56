import assert from 'node:assert/strict';
import { createJobGuard, createTables } from 'cronlatch/mysql2';

/** Without a server: other tests cover its use of databases. */
export async function use() {
  const invalid = { code: 'CRONLATCH_INVALID_CONFIGURATION' };
  await assert.rejects(createJobGuard('mysql://localhost'), invalid);
  // @ts-expect-error -- it must be a pool, options or an address
  await assert.rejects(createTables(5), invalid);
}
