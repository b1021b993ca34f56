import { InvalidLockUseError } from '../core';
import { Random } from './random';

/** One promise as a test, for any test runner: `test(name, { skip }, run)`, or its own way to skip. */
export interface ContractCase {
  readonly name: string;
  /** Why the store cannot keep this promise, copied from its `lacks`. No case is skipped without a reason. */
  readonly skip?: string;
  /** Rejects if the promise is broken. A skipped case rejects too, so that it cannot seem to pass. */
  readonly run: () => Promise<void>;
}

/** Why a store lacks a capability, in words. */
export type Lacks<Capability extends string> = { readonly [C in Capability]?: string };

export interface ContractShape {
  /** In every fixture. */
  readonly basics: { readonly dispose: () => void | Promise<void> };
  /** In a fixture that lacks nothing. */
  readonly means: object;
  readonly capability: string;
  /** What a case receives of a fixture, besides its means. */
  readonly place: object;
}

/** What a case receives: a place, with the means of the capabilities that the case needs. */
type CaseContext<Shape extends ContractShape, Lacked extends PropertyKey = never> = Shape['place'] &
  Omit<Shape['means'], Lacked> & {
    /** Creates another place, which is disposed of when the case ends. */
    readonly anotherPlace: () => Promise<Shape['place']>;
    readonly random: Random;
  };

export interface CaseDefinition<Shape extends ContractShape> {
  readonly name: string;
  readonly needs: readonly Shape['capability'][];
  readonly body: (c: CaseContext<Shape>) => Promise<void>;
}

/** Defines cases. A body cannot use the means of a capability that its case does not need. */
type Definitions<Shape extends ContractShape, Needed extends string> = (
  test: (
    name: string,
    body: (c: CaseContext<Shape, Exclude<Shape['capability'], Needed>>) => Promise<void>,
  ) => CaseDefinition<Shape>,
) => CaseDefinition<Shape>[];

/** `cases` for every store, and `needing` for those that only a store with certain capabilities can pass. */
export function caseDefiner<Shape extends ContractShape>() {
  const needing = <Needed extends Shape['capability']>(
    needs: readonly Needed[],
    define: Definitions<Shape, Needed>,
  ): CaseDefinition<Shape>[] => define((name, body) => ({ name, needs, body }));
  return { needing, cases: (define: Definitions<Shape, never>) => needing([], define) };
}

/** Capabilities that some stores of a contract have and others cannot have. */
export class ContractCapabilities<Capability extends string> {
  /** @param hasMeans for every capability, whether a fixture needs a function of the same name for it */
  constructor(
    private readonly contract: string,
    private readonly hasMeans: Readonly<Record<Capability, boolean>>,
  ) {}

  /** @throws InvalidLockUseError for an unknown capability, or one that is lacked without a reason */
  checkLacks(lacks: Lacks<Capability>): void {
    const known = Object.keys(this.hasMeans);
    for (const [capability, reason] of Object.entries<unknown>(lacks)) {
      if (!known.includes(capability))
        this.#refuse(`unknown capability '${capability}'. Known capabilities: ${known.join(', ')}`);
      if (typeof reason !== 'string' || reason.trim() === '')
        this.#refuse(`lacks.${capability} must be a text that explains why the store lacks it`);
    }
  }

  /** @throws InvalidLockUseError unless there is a function for exactly those capabilities that are not lacked */
  meansOf(fixture: object, lacks: Lacks<Capability>): object {
    const names = (Object.keys(this.hasMeans) as Capability[]).filter((name) => this.hasMeans[name]);
    const means = names.map((name) => [name, Reflect.get(fixture, name) as unknown] as const);
    for (const [name, offered] of means) {
      const isOffered = typeof offered === 'function';
      const isLacked = lacks[name] !== undefined;
      if (!isOffered && !isLacked)
        this.#refuse(`the fixture must offer ${name}, or lacks.${name} must explain why it cannot`);
      if (isOffered && isLacked) this.#refuse(`the fixture offers ${name}, although lacks.${name} is set`);
    }
    return Object.fromEntries(means);
  }

  #refuse(why: string): never {
    throw new InvalidLockUseError(`${this.contract}: ${why}.`);
  }
}

interface ContractSetUp<Shape extends ContractShape> {
  readonly capabilities: ContractCapabilities<Shape['capability']>;
  readonly create: () => Shape['basics'] | Promise<Shape['basics']>;
  readonly placeOf: (fixture: Shape['basics']) => Shape['place'];
  readonly lacks: Lacks<Shape['capability']>;
  readonly seed: number | undefined;
}

/** The cases as one store must run or skip them. */
export function contractOf<Shape extends ContractShape>(
  definitions: readonly CaseDefinition<Shape>[],
  setUp: ContractSetUp<Shape>,
): ContractCase[] {
  const { lacks, capabilities, seed = Math.trunc(Math.random() * 2 ** 32) } = setUp;
  capabilities.checkLacks(lacks);
  return definitions.map((definition) => {
    const { name, needs } = definition;
    const lacked = needs.find((capability: Shape['capability']) => lacks[capability] !== undefined);
    if (lacked === undefined) return { name, run: () => runCase(definition, setUp, new Random(seed)) };
    const skip = `${lacked}: ${lacks[lacked]}`;
    return { name, skip, run: () => Promise.reject(new Error(`Skipped: ${skip}`)) };
  });
}

async function runCase<Shape extends ContractShape>(
  { body }: CaseDefinition<Shape>,
  { create, placeOf, capabilities, lacks }: ContractSetUp<Shape>,
  random: Random,
): Promise<void> {
  const fixtures: Shape['basics'][] = [];
  const anotherPlace = async (): Promise<Shape['place'] & Shape['means']> => {
    const fixture = await create();
    fixtures.push(fixture);
    return { ...capabilities.meansOf(fixture, lacks), ...placeOf(fixture) };
  };
  try {
    await body({ ...(await anotherPlace()), anotherPlace, random });
  } catch (error) {
    if (!random.used) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`With seed ${random.seed}: ${why}`, { cause: error });
  } finally {
    for (const fixture of fixtures) await fixture.dispose();
  }
}
