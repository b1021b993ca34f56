import { SchemaMismatchError } from '../../../core';
import type { SchemaFinding } from './schema-finding';
import type { ExecuteOptions } from '../connections/sql-executor';

export interface SchemaVerdict<Statements> {
  readonly findings: readonly SchemaFinding[];
  /** Those that fit what was found; `undefined` where a finding is an error. */
  readonly statements: Statements | undefined;
}

/** Looks at the tables once, before the first statement, and again when they turn out to have changed. */
export class VerifiedSchema<Statements> {
  readonly #warned = new Set<string>();
  #known: Statements | undefined;
  #looking: Promise<Statements> | undefined;

  constructor(
    private readonly look: (options: ExecuteOptions) => Promise<SchemaVerdict<Statements>>,
    private readonly warn: (message: string) => void,
  ) {}

  /** `undefined` until the tables were looked at. */
  get known(): Statements | undefined {
    return this.#known;
  }

  /** @throws SchemaMismatchError that says what is wrong with the tables, and what to do */
  async statements(options: ExecuteOptions): Promise<Statements> {
    this.#looking ??= this.#look(options).finally(() => (this.#looking = undefined));
    return await this.#looking;
  }

  async verify(options: ExecuteOptions): Promise<readonly SchemaFinding[]> {
    const { findings, statements } = await this.look(options);
    this.#known = statements;
    return findings;
  }

  /** The tables are not what they were. */
  forget(): void {
    this.#known = undefined;
  }

  async #look(options: ExecuteOptions): Promise<Statements> {
    const findings = await this.verify(options);
    const told = (severity: SchemaFinding['severity']): string[] =>
      findings.filter((finding) => finding.severity === severity).map(({ message }) => message);
    if (this.#known === undefined)
      throw new SchemaMismatchError(told('error').join('\n'), { outcome: 'nothing-ran' });
    for (const message of told('warning')) this.#warnOnce(message);
    return this.#known;
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.warn(message);
  }
}
