/** One promise as a test, for any runner: `test(name, { skip }, run)`, or that runner's way to skip. */
export interface ContractCase {
  readonly name: string;
  /** Why the store cannot keep this promise, as its `lacks` says. Nothing is left out without such a reason. */
  readonly skip?: string;
  /** Rejects when the promise is broken; also when the case is to be skipped, so that it cannot seem to pass. */
  readonly run: () => Promise<void>;
}
