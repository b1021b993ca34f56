import type { Clock, StatementOptions } from '../../../core';
import type { Peek, PeekRequest } from '../../../ledger/run-store';
import { WaitingRequests } from '../schema/waiting-requests';
import { readPeek } from './run-rows';
import type { RunStatements } from './run-statements';
import { SqlRunStore, type SqlRunStoreOptions } from './sql-run-store';

const LARGEST_GROUP = 25;

/** Reads the runs of several jobs in one statement, if their requests wait for a connection. */
export class GroupingRunStore extends SqlRunStore {
  readonly #peeks: WaitingRequests<PeekRequest, Peek, RunStatements>;

  constructor(options: SqlRunStoreOptions & { readonly clock: Clock }) {
    super(options);
    this.#peeks = new WaitingRequests(this.tables, {
      clock: options.clock,
      subjectOf: ({ job }) => `the runs of job '${job}'`,
      companions(first, others) {
        const byScope = new Map(others.map((request) => [scopeOf(request), request]));
        byScope.delete(scopeOf(first));
        return [...byScope.values()].slice(0, LARGEST_GROUP - 1);
      },
      async answersTo(group, send, statements) {
        const { rows } = await send(statements.peek(group));
        return group.map((request, number) => readPeek(rows, request, number));
      },
    });
  }

  override peek(request: PeekRequest, options: StatementOptions): Promise<Peek> {
    return this.#peeks.isFree ? super.peek(request, options) : this.#peeks.send(request, options);
  }
}

/** Two requests for the same job and scope would get each other's runs. */
function scopeOf({ job, scope }: PeekRequest): string {
  return JSON.stringify([job, scope]);
}
