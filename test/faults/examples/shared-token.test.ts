import assert from 'node:assert/strict';
import { testWith } from '../../support/databases/fresh';
import { exampleStarter } from '../../examples/running-example';

for (const name of ['postgres', 'sqlite'] as const)
  testWith(name, 'shared-token: eight processes refresh a token once per lifetime', async (database, t) => {
    const example = exampleStarter('shared-token', t, database)();
    await example.printsAndEnds();
    const issued = Number.parseInt(example.lines[1] ?? '', 10);
    assert.ok(issued >= 1, `${issued} tokens`);
  });
