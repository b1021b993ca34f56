import { InvalidLockConfigurationError } from '../core';
import { processState } from '../core/process-state';
import type { GuardConfiguration } from './job-configuration';
import type { JobGuard } from './job-guard';

/** Which task has which lock. */
export interface LockPlace {
  /** Names the task, for messages. */
  readonly place: string;
  readonly configuration: GuardConfiguration;
}

const placesOf = processState('lock-places', () => new WeakMap<JobGuard, ReadonlyMap<string, LockPlace>>());

/**
 * Checks the locks of tasks that are to be made with this guard.
 *
 * @returns remembers them: to be called when nothing else can be refused
 * @throws InvalidLockConfigurationError for what the guard would refuse, and for a name that is used twice and not shared
 */
export function checkLockPlaces(guard: JobGuard, claims: readonly LockPlace[]): () => void {
  const places = new Map(placesOf.get(guard));
  for (const claim of claims) {
    const { name, shared } = claim.configuration;
    guard.check(claim.configuration);
    const earlier = places.get(name);
    if (earlier !== undefined && !(shared && earlier.configuration.shared)) {
      throw new InvalidLockConfigurationError(
        `Lock '${name}' is on ${earlier.place} and on ${claim.place}: give one of them another name, or say shared: true on both if they are to exclude each other.`,
      );
    }
    places.set(name, claim);
  }
  return () => void placesOf.set(guard, places);
}
