import { createHash } from 'node:crypto';
import type { SqlStatement, SqlValue } from './sql-executor';

export type Parameters = Readonly<Record<string, SqlValue>>;

/** A statement with named parameters, such as `:owner`. */
export class NamedStatement {
  readonly #text: string;
  readonly #names: readonly string[];
  readonly #id: string;

  /** @param placeholder returns the driver's placeholder for the parameter at a position, counted from 1 */
  constructor(text: string, placeholder: (position: number) => string) {
    const names: string[] = [];
    // Two colons are a cast in PostgreSQL. A quoted identifier may contain anything.
    this.#text = text.replace(
      /"(?:[^"]|"")*"|`(?:[^`]|``)*`|(?<!:):([a-z][A-Za-z]*)/g,
      (match, name: string | undefined) => (name === undefined ? match : placeholder(names.push(name))),
    );
    this.#names = names;
    this.#id = `cronlatch_${createHash('sha256').update(this.#text).digest('hex').slice(0, 24)}`;
  }

  bind(parameters: Parameters): SqlStatement {
    const values = this.#names.map((name) => {
      const value = parameters[name];
      if (value === undefined) throw new TypeError(`Parameter :${name} has no value.`);
      return value;
    });
    return { id: this.#id, text: this.#text, values };
  }
}

/** Durations are sent as whole microseconds. */
export function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}
