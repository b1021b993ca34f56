import type { CaseDefinition, ContractShape } from './case-definition';
import type { ContractCapabilities, Lacks } from './contract-capabilities';
import type { ContractCase } from './contract-case';
import { Random } from './random';

/** What every fixture of every contract has. */
interface Disposable {
  readonly dispose: () => void | Promise<void>;
}

type Shape = ContractShape & { readonly basics: Disposable };

interface ContractSetUp<S extends Shape> {
  readonly capabilities: ContractCapabilities<S['capability']>;
  /** Makes a place of its own for one case. */
  readonly create: () => S['basics'] | Promise<S['basics']>;
  readonly lacks: Lacks<S['capability']>;
  /** Default: another one each time. */
  readonly seed: number | undefined;
  readonly settings: S['settings'];
}

/** Those cases as a store is to run them, or to skip them. */
export function contractOf<S extends Shape>(
  definitions: readonly CaseDefinition<S>[],
  setUp: ContractSetUp<S>,
): ContractCase[] {
  const { lacks, capabilities, seed = Math.trunc(Math.random() * 2 ** 32) } = setUp;
  capabilities.checkLacks(lacks);
  return definitions.map((definition) => {
    const { name } = definition;
    const skip = reasonToSkip(definition, lacks);
    if (skip !== undefined) return { name, skip, run: () => Promise.reject(new Error(`Skipped: ${skip}`)) };
    return { name, run: () => runCase(definition, setUp, new Random(seed)) };
  });
}

function reasonToSkip<S extends Shape>(
  { needs }: CaseDefinition<S>,
  lacks: Lacks<S['capability']>,
): string | undefined {
  const lacked = needs.find((capability: S['capability']) => lacks[capability] !== undefined);
  return lacked && `${lacked}: ${lacks[lacked]}`;
}

async function runCase<S extends Shape>(
  { body }: CaseDefinition<S>,
  { create, capabilities, lacks, settings }: ContractSetUp<S>,
  random: Random,
): Promise<void> {
  const places: Disposable[] = [];
  const anotherPlace = async (): Promise<S['basics'] & S['means']> => {
    const fixture = await create();
    places.push(fixture);
    capabilities.checkFixture(fixture, lacks);
    return fixture;
  };
  try {
    await body(await anotherPlace(), { ...settings, anotherPlace, random });
  } catch (error) {
    if (!random.used) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`With seed ${random.seed}: ${why}`, { cause: error });
  } finally {
    for (const place of places) await place.dispose();
  }
}
