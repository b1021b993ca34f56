import { refuseOption } from '../../core/options';
import { checkStoredName, LONGEST_NAME_LENGTH } from '../../core/lock-name';
import { isStorable, LONGEST_KEY, STORABLE, type RunKey } from '../run';
import { RUN_STATES } from '../run-state';
import type { RunQuery } from '../run-store';

/** Identifies a run. Leave out the scope if the job has none. */
export type RunName = Omit<RunKey, 'scope'> & { readonly scope?: string | undefined };

const STATES: readonly string[] = RUN_STATES;
const ORDERS: readonly string[] = ['newest-first', 'oldest-first'] satisfies RunQuery['order'][];

/** @throws InvalidLockConfigurationError for a name that no run can have, or that lacks a part */
export function runKeyOf({ job, scope, periodKey }: RunName): RunKey {
  checkJob(job);
  checkStoredName(periodKey, { as: 'the period key of a run', longest: LONGEST_KEY });
  return { job, scope: checkedScope(scope), periodKey };
}

/** @throws InvalidLockConfigurationError */
export function checkJob(job: unknown): asserts job is string {
  checkStoredName(job, { as: 'the job of a run', longest: LONGEST_NAME_LENGTH });
}

/** @throws InvalidLockConfigurationError */
export function checkedScope(scope: string | undefined): string {
  if (scope === undefined || scope === '') return '';
  checkStoredName(scope, { as: 'the scope of a run', longest: LONGEST_KEY });
  return scope;
}

/** @throws InvalidLockConfigurationError also for a condition that is `undefined`, because it would match every run */
export function checkQuery(query: Partial<RunQuery>): void {
  if ('job' in query) checkJob(query.job);
  if ('scope' in query && query.scope !== '')
    checkStoredName(query.scope, { as: 'the scope of a run', longest: LONGEST_KEY });
  if ('periodKey' in query)
    checkStoredName(query.periodKey, { as: 'the period key of a run', longest: LONGEST_KEY });
  const { states, from, to, order, limit = 0 } = query;
  const areStates = Array.isArray(states) && states.every((state) => STATES.includes(String(state)));
  if ('states' in query && !areStates) refuse('states', states, `use ${STATES.join(', ')}`);
  for (const [what, instant] of Object.entries({ from, to }))
    if (instant !== undefined && !isStorable(instant)) refuse(what, instant, `give a ${STORABLE}`);
  if (order !== undefined && !ORDERS.includes(order))
    refuse('order', order, `use 'newest-first' or 'oldest-first'`);
  if (!Number.isSafeInteger(limit) || limit < 0) refuse('limit', limit, 'give a whole number');
}

function refuse(what: string, value: unknown, remedy: string): never {
  refuseOption(`${what} of ledger.list`, value, `${remedy}, or leave it out`);
}
