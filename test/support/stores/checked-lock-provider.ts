import { TypeOrmLockProvider, verifySchema, type TypeOrmSource } from 'cronlatch/typeorm';
import type { SchemaFinding, TypeOrmLockProviderOptions } from 'cronlatch/typeorm';

/** A provider of locks, with what `verifySchema` finds about its table. */
export class CheckedLockProvider extends TypeOrmLockProvider {
  constructor(
    private readonly source: TypeOrmSource,
    private readonly options: TypeOrmLockProviderOptions = {},
  ) {
    super(source, options);
  }

  async verifySchema(): Promise<readonly SchemaFinding[]> {
    const { lockTable, columns, schema, nameLength } = this.options;
    return await verifySchema(this.source, { tables: ['lock'], lockTable, columns, schema, nameLength });
  }
}
