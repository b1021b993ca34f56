import { completeRunIn, createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import type { Application, Client, Rows, RunTransaction } from './application';

interface TypeOrmApplication extends Application {
  readonly dataSource: DataSource;
}

export const TYPEORM: Client<TypeOrmApplication> = {
  prefix: 'with TypeORM, ',
  isSynchronousOn: [],

  async open({ kind, ...database }, { url, poolSize, dataSource: more }) {
    const at = { ...(url === undefined ? {} : { url }), ...(poolSize === undefined ? {} : { poolSize }) };
    const dataSource = await new DataSource({ ...database.options, ...at, ...more } as never).initialize();
    const insert =
      kind === 'postgres' ? 'INSERT INTO effects VALUES ($1, $2)' : 'INSERT INTO effects VALUES (?, ?)';
    return {
      dataSource,
      subpath: 'cronlatch/typeorm',
      createJobGuard: (options) => createJobGuard(dataSource, options),
      transaction: (work) =>
        dataSource.transaction((manager) =>
          work({
            insert: (id, text) => manager.query(insert, [id, text]),
            complete: (options) => completeRunIn(manager, options),
            commitBehind: () => manager.query('COMMIT'),
          }),
        ),
      inRunTransaction: (work, options) =>
        inRunTransaction((manager) => work(runTransaction(manager)), options),
      completeRunIn: (own, options) => completeRunIn(own as EntityManager, options),
      async borrow() {
        const runner = dataSource.createQueryRunner();
        await runner.connect();
        const query = (text: string): Promise<Rows> => runner.query(text) as Promise<Rows>;
        return { connection: { query }, own: runner.manager, release: () => void runner.release() };
      },
      size: () => sizeOf(dataSource),
      close: () => dataSource.destroy(),
    };
  },
};

function runTransaction(manager: EntityManager): RunTransaction {
  const { subscribers } = manager.connection;
  return {
    query: (text) => manager.query<Rows>(text),
    beforeCommit: (hook) =>
      void subscribers.push({
        beforeTransactionCommit() {
          subscribers.length = 0;
          return hook();
        },
      }),
  };
}

/** Of the pool of pg or mysql2. */
function sizeOf({ driver }: DataSource): number {
  const { master, pool } = driver as {
    readonly master?: { readonly totalCount: number };
    readonly pool?: { readonly _allConnections: { readonly length: number } };
  };
  return master?.totalCount ?? pool?._allConnections.length ?? NaN;
}
