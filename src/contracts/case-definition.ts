import type { Random } from './random';

/** What the fixtures of a contract have, and what its cases are given besides. */
export interface ContractShape {
  /** Of every fixture. */
  readonly basics: object;
  /** Of a fixture that lacks nothing. */
  readonly means: object;
  readonly capability: string;
  /** What this contract gives to its cases, and others do not. */
  readonly settings: object;
}

type FixtureOf<Shape extends ContractShape, Lacked extends PropertyKey = never> = Shape['basics'] &
  Omit<Shape['means'], Lacked>;

type CaseTools<Shape extends ContractShape, Lacked extends PropertyKey> = Shape['settings'] & {
  /** Another place, gone when the case is over. */
  readonly anotherPlace: () => Promise<FixtureOf<Shape, Lacked>>;
  readonly random: Random;
};

type CaseBody<Shape extends ContractShape, Lacked extends PropertyKey = never> = (
  fixture: FixtureOf<Shape, Lacked>,
  tools: CaseTools<Shape, Lacked>,
) => Promise<void>;

export interface CaseDefinition<Shape extends ContractShape> {
  /** Begins with the promise that it holds. */
  readonly name: string;
  readonly needs: readonly Shape['capability'][];
  readonly body: CaseBody<Shape>;
}

/** Bodies by name. The means of a capability that is not needed cannot be touched. */
type Bodies<Shape extends ContractShape, Needed extends string> = Readonly<
  Record<string, CaseBody<Shape, Exclude<Shape['capability'], Needed>>>
>;

export interface CaseDefiner<Shape extends ContractShape> {
  /** Cases that every store must pass. */
  readonly cases: (bodies: Bodies<Shape, never>) => CaseDefinition<Shape>[];
  /** Cases that only a store with these capabilities can pass. */
  readonly needing: <Needed extends Shape['capability']>(
    needs: readonly Needed[],
    bodies: Bodies<Shape, Needed>,
  ) => CaseDefinition<Shape>[];
}

/** How the cases of a contract are written. */
export function caseDefiner<Shape extends ContractShape>(): CaseDefiner<Shape> {
  const needing: CaseDefiner<Shape>['needing'] = (needs, bodies) =>
    Object.entries(bodies).map(([name, body]) => ({ name, needs, body }));
  return { needing, cases: (bodies) => needing([], bodies) };
}
