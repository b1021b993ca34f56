import assert from 'node:assert/strict';
import { exampleStarter } from '../../examples/running-example';
import { testWith } from '../../support/databases/fresh';

for (const server of ['mysql', 'mariadb'] as const) {
  testWith(server, 'what FOR UPDATE locks, and that a missing row has two holders', async (database, t) => {
    const example = exampleStarter('why-not-for-update', t, database)();
    await example.printsAndEnds();
    // Another test may purge or write meanwhile.
    assert.ok(numberIn(example.lines.at(-1)) > 1000);
  });

  testWith(
    server,
    'an insert and an update deadlock in one transaction, and not in two',
    async (database, t) => {
      const example = exampleStarter('why-not-one-transaction', t, database)();
      await example.printsAndEnds();
      assert.ok(numberIn(example.lines[0]) > 0);
    },
  );
}

function numberIn(line = ''): number {
  return Number(/\d+/.exec(line)?.[0]);
}
