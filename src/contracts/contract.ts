import { InvalidLockUseError } from '../core';
import { Random } from './random';

/**
 * One promise as a test, for any test runner: `test(name, { skip }, run)`, or the runner's own way to skip a
 * test.
 */
export interface ContractCase {
  readonly name: string;
  /** Why the store cannot keep this promise, copied from its `lacks`. A case is never skipped without a reason. */
  readonly skip?: string;
  /** Rejects if the promise is broken. A skipped case rejects too, so that it cannot seem to pass. */
  readonly run: () => Promise<void>;
}

/** Why a store lacks a capability, in words. */
export type Lacks<Capability extends string> = { readonly [C in Capability]?: string };

interface Disposable {
  readonly dispose: () => void | Promise<void>;
}

/** The types of one contract: its fixtures and what its cases receive. */
export interface ContractShape {
  /** In every fixture. */
  readonly basics: Disposable;
  /** In a fixture that lacks nothing. */
  readonly means: object;
  readonly capability: string;
  /** What only the cases of this contract receive. */
  readonly settings: object;
}

type FixtureOf<Shape extends ContractShape, Lacked extends PropertyKey = never> = Shape['basics'] &
  Omit<Shape['means'], Lacked>;

type CaseTools<Shape extends ContractShape, Lacked extends PropertyKey> = Shape['settings'] & {
  /** Creates another place, which is disposed of when the case ends. */
  readonly anotherPlace: () => Promise<FixtureOf<Shape, Lacked>>;
  readonly random: Random;
};

type CaseBody<Shape extends ContractShape, Lacked extends PropertyKey = never> = (
  fixture: FixtureOf<Shape, Lacked>,
  tools: CaseTools<Shape, Lacked>,
) => Promise<void>;

export interface CaseDefinition<Shape extends ContractShape> {
  /** Begins with the promise that the case tests. */
  readonly name: string;
  readonly needs: readonly Shape['capability'][];
  readonly body: CaseBody<Shape>;
}

/** Bodies by name. A body cannot use the means of a capability that its case does not need. */
type Bodies<Shape extends ContractShape, Needed extends string> = Readonly<
  Record<string, CaseBody<Shape, Exclude<Shape['capability'], Needed>>>
>;

interface CaseDefiner<Shape extends ContractShape> {
  /** Cases that every store must pass. */
  readonly cases: (bodies: Bodies<Shape, never>) => CaseDefinition<Shape>[];
  /** Cases that only a store with these capabilities can pass. */
  readonly needing: <Needed extends Shape['capability']>(
    needs: readonly Needed[],
    bodies: Bodies<Shape, Needed>,
  ) => CaseDefinition<Shape>[];
}

export function caseDefiner<Shape extends ContractShape>(): CaseDefiner<Shape> {
  const needing: CaseDefiner<Shape>['needing'] = (needs, bodies) =>
    Object.entries(bodies).map(([name, body]) => ({ name, needs, body }));
  return { needing, cases: (bodies) => needing([], bodies) };
}

/** Capabilities that some stores of a contract have and others cannot have. */
export class ContractCapabilities<Capability extends string> {
  readonly #all: readonly string[];
  /** The capabilities for which a fixture must have a function of the same name. */
  readonly #means: readonly Capability[];

  /** @param hasMeans for every capability, whether a fixture needs a function for it */
  constructor(
    private readonly contract: string,
    hasMeans: Readonly<Record<Capability, boolean>>,
  ) {
    this.#all = Object.keys(hasMeans);
    this.#means = (this.#all as Capability[]).filter((capability) => hasMeans[capability]);
  }

  /** @throws InvalidLockUseError for an unknown capability, or one that is lacked without a reason */
  checkLacks(lacks: Lacks<Capability>): void {
    for (const [capability, reason] of Object.entries<unknown>(lacks)) {
      if (!this.#all.includes(capability))
        this.#refuse(`unknown capability '${capability}'. Known capabilities: ${this.#all.join(', ')}`);
      if (typeof reason !== 'string' || reason.trim() === '')
        this.#refuse(`lacks.${capability} must be a text that explains why the store lacks it`);
    }
  }

  /**
   * @throws InvalidLockUseError unless the fixture has a function for exactly those capabilities that are not
   * lacked
   */
  checkFixture(fixture: object, lacks: Lacks<Capability>): void {
    for (const means of this.#means) {
      const isOffered = typeof Reflect.get(fixture, means) === 'function';
      const isLacked = lacks[means] !== undefined;
      if (!isOffered && !isLacked)
        this.#refuse(`the fixture must offer ${means}, or lacks.${means} must explain why it cannot`);
      if (isOffered && isLacked) this.#refuse(`the fixture offers ${means}, although lacks.${means} is set`);
    }
  }

  #refuse(why: string): never {
    throw new InvalidLockUseError(`${this.contract}: ${why}.`);
  }
}

interface ContractSetUp<Shape extends ContractShape> {
  readonly capabilities: ContractCapabilities<Shape['capability']>;
  /** Creates a place for one case. */
  readonly create: () => Shape['basics'] | Promise<Shape['basics']>;
  readonly lacks: Lacks<Shape['capability']>;
  /** Default: a new one each time. */
  readonly seed: number | undefined;
  readonly settings: Shape['settings'];
}

/** The cases as one store must run or skip them. */
export function contractOf<Shape extends ContractShape>(
  definitions: readonly CaseDefinition<Shape>[],
  setUp: ContractSetUp<Shape>,
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

function reasonToSkip<Shape extends ContractShape>(
  { needs }: CaseDefinition<Shape>,
  lacks: Lacks<Shape['capability']>,
): string | undefined {
  const lacked = needs.find((capability: Shape['capability']) => lacks[capability] !== undefined);
  return lacked && `${lacked}: ${lacks[lacked]}`;
}

async function runCase<Shape extends ContractShape>(
  { body }: CaseDefinition<Shape>,
  { create, capabilities, lacks, settings }: ContractSetUp<Shape>,
  random: Random,
): Promise<void> {
  const places: Disposable[] = [];
  const anotherPlace = async (): Promise<Shape['basics'] & Shape['means']> => {
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
