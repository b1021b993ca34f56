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
      urgent: false,
      subjectOf: ({ job }) => `the runs of job '${job}'`,
      companions: (_, others) => others.slice(0, LARGEST_GROUP - 1),
      async answersTo([first, ...others], send, statements) {
        if (others.length === 0) return [readPeek((await send(statements.peek(first))).rows)];
        const { rows } = await send(statements.peekGroup([first, ...others]));
        return [first, ...others].map((_, number) =>
          readPeek(rows.filter(({ member }) => Number(member) === number)),
        );
      },
    });
  }

  override peek(request: PeekRequest, options: StatementOptions): Promise<Peek> {
    return this.#peeks.isFree ? super.peek(request, options) : this.#peeks.send(request, options.timeoutMs);
  }
}
