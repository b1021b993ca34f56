import { randomBytes } from 'node:crypto';
import type { ServerName } from './fresh';

/** Which must not be in a message. */
export const PASSWORD = 'hunter2';

/** A user of a server who has no privileges at first. */
export interface DatabaseUser {
  readonly name: string;
  /** As a grant names it. */
  readonly account: string;
  /** The address of a database for this user. */
  readonly url: string;
}

/** Where a user is created, and the administrator's way to it. */
interface Place {
  readonly url: string;
  readonly ask: (statement: string) => Promise<unknown>;
}

/** Creates a user for the time of a test. */
export async function withUser(
  server: ServerName,
  { url, ask }: Place,
  body: (user: DatabaseUser) => Promise<void>,
  requirement = '',
): Promise<void> {
  const isPostgres = server === 'postgres';
  const name = `u${randomBytes(6).toString('hex')}`;
  const account = isPostgres ? name : `'${name}'@'%'`;
  const own = new URL(url);
  [own.username, own.password] = [name, PASSWORD];
  const identified = isPostgres ? 'PASSWORD' : 'IDENTIFIED BY';
  await ask(`CREATE USER ${account} ${identified} '${PASSWORD}' ${requirement}`);
  try {
    await body({ name, account, url: own.href });
  } finally {
    if (isPostgres) await ask(`DROP OWNED BY ${account}`);
    await ask(`DROP USER ${account}`);
  }
}
