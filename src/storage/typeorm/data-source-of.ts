import type { DataSource } from 'typeorm';

/** A query runner or an entity manager of TypeORM 1, or one of TypeORM 0.3, which has only the old name. */
type Owned = { readonly dataSource: DataSource } | { readonly connection: DataSource };

/** Everything else that the library uses has the same name in TypeORM 0.3 and 1. */
export function dataSourceOf(owned: Owned): DataSource {
  return 'dataSource' in owned ? owned.dataSource : owned.connection;
}
