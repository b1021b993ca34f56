import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import type { DataSource } from 'typeorm';
import type { TestDatabase } from '../../../support/databases/fresh';
import { closing } from '../../../support/benches/closing';
import { createRegister, openRegister } from '../../../support/databases/fenced-register';
import { migratedDataSource } from '../../../support/databases/lock-table';
import { Child, type ChildOptions } from '../../../processes/child';
import type { StalledMessage, StalledOrders } from '../../../processes/fixtures/stalled-holder';

export type Holder = Child<StalledMessage>;

/** Holders of locks that can be stalled, another instance, and a register to which all of them write. */
export interface Scene {
  /** Ready to take the lock. */
  readonly start: (orders: Omit<StalledOrders, 'options'>, more?: ChildOptions) => Promise<Holder>;
  readonly dataSource: DataSource;
  /** The provider of the other instance. */
  readonly provider: TypeOrmLockProvider;
}

export async function withHolders(
  database: TestDatabase,
  body: (scene: Scene) => Promise<void>,
): Promise<void> {
  const { options } = database;
  await using dataSource = closing(await migratedDataSource(database));
  await createRegister(dataSource);
  await using provider = closing(new TypeOrmLockProvider(dataSource));
  const holders: Holder[] = [];
  try {
    await body({
      dataSource,
      provider,
      async start(orders, more = {}) {
        await openRegister(dataSource, orders.name);
        const holder: Holder = new Child('stalled-holder.js', { ...more, argument: { options, ...orders } });
        holders.push(holder);
        await holder.received('ready');
        return holder;
      },
    });
  } finally {
    await Promise.all(holders.map((holder) => holder.end()));
  }
}
