import assert from 'node:assert/strict';
import { EntitySchema } from 'typeorm';
import { createCronlatchEntities, createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';

/** Without a driver: other tests cover its use of databases. */
export async function use() {
  const entities = createCronlatchEntities({ type: 'mysql' });
  assert.ok(entities.every((entity) => entity instanceof EntitySchema));
  assert.match(new (createCronlatchMigration({ tables: ['lock'] }))().name ?? '', /\d{13}$/);
  // @ts-expect-error -- it must be a DataSource
  await assert.rejects(createJobGuard({ options: { type: 'oracle' } }), {
    code: 'CRONLATCH_INVALID_CONFIGURATION',
  });
}
