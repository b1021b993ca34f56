import assert from 'node:assert/strict';
import { closing } from '../../support/benches/closing';
import { testWith } from '../../support/databases/fresh';
import { lockRows, migratedDataSource, shiftBack } from '../../support/databases/lock-table';
import { Child } from '../../processes/child';
import type { TwinMessage, TwinCommand } from '../../processes/fixtures/twin';

type Twin = Child<TwinMessage>;

async function answerTo(twin: Twin, act: TwinCommand): Promise<boolean | undefined> {
  const answers = (): TwinMessage[] => twin.messages.filter(({ event }) => event === 'done');
  const before = answers().length;
  twin.send({ act });
  await twin.received('done', { matching: (message) => answers().indexOf(message) >= before });
  return answers()[before]?.answer;
}

testWith(
  'mysql',
  'two processes with one host name and one process id are two holders, and do not change each other’s lease (F-17, F-83)',
  async (database) => {
    await using dataSource = closing(await migratedDataSource(database));
    const argument = { options: database.options };
    await using first = closing(new Child<TwinMessage>('twin.js', { argument }));
    await using second = closing(new Child<TwinMessage>('twin.js', { argument }));
    await Promise.all([first, second].map((twin) => twin.received('ready')));
    assert.equal(await answerTo(first, 'lock'), true);
    assert.equal(await answerTo(second, 'lock'), false);
    await shiftBack(dataSource, 600_000);
    assert.equal(await answerTo(second, 'lock'), true);
    const [held] = await lockRows(dataSource);
    assert.match(held?.lockedBy ?? '', /^billing\/1\/[0-9a-f-]{36}$/);
    assert.equal(await answerTo(first, 'extend'), false);
    assert.equal(await answerTo(first, 'unlock'), false);
    assert.deepEqual(await lockRows(dataSource), [held]);
    assert.equal(await answerTo(second, 'unlock'), true);
  },
);
