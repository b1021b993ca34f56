import { InvalidLockUseError } from '../core';

/** Why a store cannot do what it is said to lack, in words. */
export type Lacks<Capability extends string> = { readonly [C in Capability]?: string };

/** What some stores of a contract have and others cannot. */
export class ContractCapabilities<Capability extends string> {
  readonly #all: readonly string[];
  /** The capabilities for which a fixture must offer a function of that name. */
  readonly #means: readonly Capability[];

  /** @param hasMeans of every capability, whether a fixture has to do something for it */
  constructor(
    private readonly contract: string,
    hasMeans: Readonly<Record<Capability, boolean>>,
  ) {
    this.#all = Object.keys(hasMeans);
    this.#means = (this.#all as Capability[]).filter((capability) => hasMeans[capability]);
  }

  /** @throws InvalidLockUseError for a capability that there is not, or one that is lacked without a reason */
  checkLacks(lacks: Lacks<Capability>): void {
    for (const [capability, reason] of Object.entries<unknown>(lacks)) {
      if (!this.#all.includes(capability))
        this.#refuse(`'${capability}' is none of the capabilities: ${this.#all.join(', ')}`);
      if (typeof reason !== 'string' || reason.trim() === '')
        this.#refuse(`lacks.${capability} must say in words why the store does not have it`);
    }
  }

  /** @throws InvalidLockUseError unless the fixture offers the means of exactly those capabilities that are not lacked */
  checkFixture(fixture: object, lacks: Lacks<Capability>): void {
    for (const means of this.#means) {
      const offered = typeof Reflect.get(fixture, means) === 'function';
      const lacked = lacks[means] !== undefined;
      if (!offered && !lacked)
        this.#refuse(`the fixture must offer ${means}, or lacks.${means} say why it cannot`);
      if (offered && lacked) this.#refuse(`the fixture offers ${means}, which lacks.${means} denies`);
    }
  }

  #refuse(why: string): never {
    throw new InvalidLockUseError(`${this.contract}: ${why}.`);
  }
}
