/** One promise as a test: give `name` and `run` to any runner. `run` rejects when the promise is broken. */
export interface ContractCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}
