/** Many instances that want the same locks in other orders: each lock has one holder, and no instance waits for good. */
import assert from 'node:assert/strict';
import { namesOf, releaseAll, requestOf, testGroups } from '../../../support/benches/grouping';

const ROUNDS = 12;
/** Waiting for a connection counts, and all of them are wanted at once. */
const PATIENT = { timeoutMs: 60_000 };

testGroups(
  'eight instances that take, extend and release 300 locks at once never deadlock',
  async ({ accessor, others }) => {
    const names = namesOf(300);
    await releaseAll(accessor, names);
    const instances = [accessor, ...others];
    const lastTokens = new Map<string, number>();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const winners = new Map<string, string>();
      await Promise.all(
        instances.map(async (instance, number) => {
          const owner = (name: string): string => `${number}/${round}/${name}`;
          const take = async (name: string): Promise<void> => {
            const answer = await instance.updateRecord(requestOf(name, owner(name)), PATIENT);
            if (typeof answer !== 'object' || 'heldBy' in answer) return;
            assert.equal(winners.get(name), undefined, `${name} has two holders`);
            winners.set(name, owner(name));
            const token = Number(answer.fencingToken);
            assert.ok(token > (lastTokens.get(name) ?? 0), `the token of ${name} did not rise`);
            lastTokens.set(name, token);
            const nextOwner = `${owner(name)}/1`;
            assert.equal(
              await instance.extend({ ...requestOf(name, owner(name)), nextOwner }, PATIENT),
              true,
            );
          };
          await Promise.all(shuffled(names).map(take));
        }),
      );
      assert.equal(winners.size, names.length);
      const released = await Promise.all(
        instances.flatMap((instance, number) =>
          [...winners]
            .filter(([, owner]) => owner.startsWith(`${number}/`))
            .map(([name, owner]) => instance.unlock(requestOf(name, `${owner}/1`), PATIENT)),
        ),
      );
      assert.ok(released.every((isReleased) => isReleased));
    }
  },
  { instances: 8 },
);

function shuffled(names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ name }) => name);
}
