import type { ContractCase } from '../contract-case';
import { atLeast } from './at-least';
import { exclusion } from './exclusion';
import type { LockProviderFixture } from './fixture';
import { keepAlive } from './keep-alive';
import { lease } from './lease';
import { ownership } from './ownership';

export type { LockProviderFixture } from './fixture';

/**
 * What every lock provider promises, as a list of cases for any runner. The letters are those of the promises: P1
 * exclusive, P2 a live holder knows, P3 tokens rise, P4 liveness, P5 at least, P6 ownership, P7 fail closed.
 *
 * @param create makes a fixture for one case; its locks are not shared with any other
 */
export function lockProviderContract(
  create: () => LockProviderFixture | Promise<LockProviderFixture>,
): ContractCase[] {
  return Object.entries({ ...exclusion, ...lease, ...atLeast, ...ownership, ...keepAlive }).map(
    ([name, body]) => ({
      name,
      async run() {
        const fixture = await create();
        try {
          await body(fixture);
        } finally {
          await fixture.dispose();
        }
      },
    }),
  );
}
