import assert from 'node:assert/strict';
import { fromDrizzle, fromKnex, fromKysely, fromPrisma } from 'cronlatch/adapters';

/** Without a query builder: other tests cover their transactions. */
export async function use() {
  const raw = () => Promise.resolve({ rows: [{ id: 1 }] });
  const { rows } = await fromKnex(Object.assign({ raw }, { client: { dialect: 'postgresql' } })).run(
    'SELECT 1',
    [],
  );
  assert.deepEqual(rows, [{ id: 1 }]);
  const refused = { code: 'CRONLATCH_INVALID_USE' };
  // @ts-expect-error -- it must be a transaction
  assert.throws(() => fromKysely({}), refused);
  // @ts-expect-error -- it must be a transaction
  assert.throws(() => fromDrizzle({}, String.raw), refused);
  // @ts-expect-error -- it must be a transaction
  assert.throws(() => fromPrisma({}), refused);
}
