import type { DataSource } from 'typeorm';

/** A resource that refuses tokens lower than the highest it has seen, as the effects of a job should. */
export async function createRegister(dataSource: DataSource): Promise<void> {
  await dataSource.query('CREATE TABLE register (name VARCHAR(64) PRIMARY KEY, token BIGINT NOT NULL)');
}

/** The name needs no quoting in the statement. */
export async function openRegister(dataSource: DataSource, name: string): Promise<void> {
  await dataSource.query(`INSERT INTO register (name, token) VALUES ('${name}', 0)`);
}

/** @returns the token that the register then holds: the given one, if it was accepted */
export async function writeFenced(dataSource: DataSource, name: string, token: number): Promise<number> {
  await dataSource.query(`UPDATE register SET token = ${token} WHERE name = '${name}' AND token <= ${token}`);
  return await registered(dataSource, name);
}

export async function registered(dataSource: DataSource, name: string): Promise<number> {
  const [row] = await dataSource.query<{ token: unknown }[]>(
    `SELECT token FROM register WHERE name = '${name}'`,
  );
  return Number(row?.token);
}
