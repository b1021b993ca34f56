import type { JobGuard } from 'cronlatch';
import { createJobGuard } from 'cronlatch/mysql2';
import type { Pool } from 'mysql2/promise';

export async function guardWithToken(pool: Pool, token: () => Promise<string>): Promise<JobGuard> {
  return await createJobGuard(pool, { password: token });
}
