import type { Calls } from '../calls/calls';
import type { JobGuardOptions } from '../jobs/job-guard-options';
import { OverdueRuns } from './overdue-runs';
import type { Register } from './register';
import { purgeService } from './purge';
import { RunRequests } from './run-requests';
import type { Service } from './upkeep';

/** What a guard with a ledger does besides the calls of its jobs and notices, in the order in which a poll begins it. */
export function servicesOf(
  calls: Calls,
  registered: Register,
  { retention, pollInterval }: JobGuardOptions,
): Service[] {
  const runner = calls.requireOncePerRunner('The services need');
  const { context } = runner;
  const { acts } = context.store;
  const services: Service[] = [registered];
  if (acts !== undefined) services.push(new RunRequests(acts, calls, runner, registered));
  services.push(new OverdueRuns(runner, registered));
  if (retention !== undefined || pollInterval !== false) services.push(purgeService(calls, retention));
  return services;
}
