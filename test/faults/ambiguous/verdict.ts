/**
 * What the library reported of a statement, compared with the tables: right, wrong, or an error that calls
 * the outcome unknown and leaves nothing behind that blocks another instance.
 */
export type Verdict = 'right' | 'wrong' | 'unresolved';

export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

export async function settle<T>(answer: Promise<T>): Promise<Outcome<T>> {
  return await answer.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** Counts the verdicts. */
export class Tally {
  readonly #counts = { right: 0, wrong: 0, unresolved: 0 };

  count(verdict: Verdict): void {
    this.#counts[verdict] += 1;
  }

  get wrong(): number {
    return this.#counts.wrong;
  }

  get right(): number {
    return this.#counts.right;
  }

  toString(): string {
    const { right, wrong, unresolved } = this.#counts;
    return `${right + wrong + unresolved} lost, ${right} right, ${wrong} wrong, ${unresolved} unresolved`;
  }
}
