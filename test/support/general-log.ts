import { randomBytes } from 'node:crypto';
import type { RowDataPacket } from 'mysql2/promise';
import type { MysqlDatabase } from './databases';

/**
 * What one application sends, as MySQL itself has logged it. The application gets a user of its own, so that the log
 * of a shared server tells it from others.
 */
export async function loggedUser({ root, name, url }: MysqlDatabase) {
  const user = `u${randomBytes(6).toString('hex')}`;
  await root.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'secret'`);
  await root.query(`GRANT ALL ON ${name}.* TO '${user}'@'%'`);
  await root.query(`SET GLOBAL log_output = 'TABLE'`);
  await root.query('SET GLOBAL general_log = ON');
  const own = new URL(url);
  own.username = user;
  own.password = 'secret';
  let seen = 0;
  return {
    url: own.href,
    /** The statements since the last call, the driver's own set-up and keep-alives left out. */
    async statements(): Promise<string[]> {
      const [rows] = await root.query<RowDataPacket[]>(
        `SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log WHERE user_host LIKE ? AND command_type IN ('Query', 'Execute', 'Prepare') ORDER BY event_time`,
        [`${user}%`],
      );
      const texts = rows.map((row) => String(row['text']));
      return texts.slice(seen, (seen = texts.length));
    },
    async dispose(): Promise<void> {
      await root.query(`DROP USER '${user}'@'%'`);
    },
  };
}
