import { readFile } from 'node:fs/promises';
import { createJobGuard } from 'cronlatch/mysql2';
import { createPool } from 'mysql2/promise';

export async function guardWithSecret(file = '/run/secrets/database-password') {
  const uri = process.env['DATABASE_URL']; // mysql://app@db:3306/app, without a password.
  const password = (await readFile(file, 'utf8')).trim();
  const pool = createPool({ ...(uri && { uri }), password });
  return { pool, guard: await createJobGuard(pool) };
}
