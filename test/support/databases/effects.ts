import type { DataSource } from 'typeorm';

/** What a run writes to the application's database. */
export interface Effect {
  readonly run: string;
  readonly attempt: number;
}

export interface Queryable {
  query(text: string): Promise<unknown>;
}

export async function createEffectTable(dataSource: DataSource): Promise<void> {
  await dataSource.query('CREATE TABLE effect (run VARCHAR(64) NOT NULL, attempt INTEGER NOT NULL)');
}

/** The effect of a run. Its key needs no quoting in the statement. */
export async function makeEffect(
  where: Queryable,
  { periodKey, attempt }: { readonly periodKey: string; readonly attempt: number },
): Promise<void> {
  await where.query(`INSERT INTO effect (run, attempt) VALUES ('${periodKey}', ${attempt})`);
}

/** The committed effects. */
export async function effectsIn(dataSource: DataSource): Promise<Effect[]> {
  const rows = await dataSource.query<Record<string, unknown>[]>(
    'SELECT run, attempt FROM effect ORDER BY run, attempt',
  );
  return rows.map((row) => ({ run: String(row['run']), attempt: Number(row['attempt']) }));
}
