import assert from 'node:assert/strict';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { databaseOn, testOn } from '../../support/databases';
import { lockRows, migratedDataSource } from '../../support/lock-table';

const JOB = { name: 'job', lockAtMostFor: '1m' };

/** MySQL hands the token over as the last insert id, which a trigger of an auditor sets to zero. */
for (const server of ['mysql', 'mariadb'] as const) {
  testOn(server, 'P3 tokens rise on a table with a trigger, which hides them from the driver', async () => {
    const database = await databaseOn(server);
    const application = await migratedDataSource(database);
    await application.query('CREATE TABLE audit (name VARCHAR(64), token BIGINT)');
    for (const event of ['INSERT', 'UPDATE'])
      await application.query(
        `CREATE TRIGGER audit_${event} AFTER ${event} ON shedlock FOR EACH ROW
         INSERT INTO audit (name, token) VALUES (NEW.name, NEW.fencing_token)`,
      );
    const provider = new TypeOrmLockProvider(new DataSource(database.options));
    try {
      const tokens: (number | undefined)[] = [];
      for (let grants = 0; grants < 3; grants += 1) {
        const lock = await provider.lock(JOB);
        assert.ok(lock);
        tokens.push(lock.fencingToken);
        assert.deepEqual(
          (await lockRows(application)).map(({ token }) => token),
          [lock.fencingToken],
        );
        assert.equal(await lock.unlock(), true);
      }
      assert.ok(Number(tokens[0]) > 0 && Number(tokens[0]) < Number(tokens[1]));
      assert.ok(Number(tokens[1]) < Number(tokens[2]));
    } finally {
      await provider.close();
      await application.destroy();
      await database.dispose();
    }
  });
}
