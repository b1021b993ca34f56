import { after, test } from 'node:test';
import type { ContractCase } from 'cronlatch/contracts';
import { ContractPlaces } from './contract-places';
import type { SqlVariant } from './contract-stores';
import { reportLack, type TestDatabase } from './databases';

/** Places for the contract's cases, closed when all tests of the file have run. */
export function placesOf(
  variant: SqlVariant,
  create: () => TestDatabase | Promise<TestDatabase>,
): ContractPlaces {
  const places = new ContractPlaces(variant, create);
  after(() => places.dispose());
  return places;
}

/** A case of a contract as a test; one that is left out is announced. */
export function testCase(store: string, { name, skip, run }: ContractCase): void {
  if (skip !== undefined) reportLack(store, skip);
  void test(`${store}: ${name}`, { skip }, run);
}
