import type { Calls } from '../calls/calls';
import type { JobGuardOptions } from '../jobs/job-guard-options';
import type { GuardLocks } from '../operations/guard-locks';
import { Notices } from './notices';
import { OverdueRuns } from './overdue-runs';
import type { Register } from './register';
import { purgeService } from './purge';
import { RunRequests } from './run-requests';
import type { Service } from './upkeep';

/** What a guard with a ledger does besides the calls of its jobs, in the order in which a poll begins it. */
export function servicesOf(
  calls: Calls,
  registered: Register,
  locks: GuardLocks,
  options: JobGuardOptions,
): Service[] {
  const runner = calls.requireOncePerRunner('The services need');
  const { context } = runner;
  const { requests } = context.store;
  const services: Service[] = [registered];
  if (requests !== undefined) services.push(new RunRequests(requests, calls, runner, registered));
  const { notify, retention, pollInterval } = options;
  if (notify !== undefined) services.push(new Notices(runner, locks, options, registered.lateAfterMs));
  services.push(new OverdueRuns(runner, registered));
  if (retention !== undefined || pollInterval !== false) services.push(purgeService(calls, retention));
  return services;
}
