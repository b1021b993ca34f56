import { createJobGuard } from 'cronlatch/pg';
import knex from 'knex';
import { closeDay } from './knex';

export async function main(url: string): Promise<void> {
  const db = knex({ client: 'pg', connection: url });
  const guard = await createJobGuard(url);
  const job = {
    name: 'close-day',
    lockAtMostFor: '10m',
    oncePer: { period: 'day', timeZone: 'Europe/Paris' },
  } as const;
  await guard.run(job, () => closeDay(db));
  await guard.close();
  await db.destroy();
}
