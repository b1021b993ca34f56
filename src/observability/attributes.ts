import type { Attributes } from '@opentelemetry/api';
import type { LockEvent } from '../core';

export function jobAttribute({ job }: Pick<LockEvent, 'job'>): Attributes {
  return job === undefined ? {} : { 'cronlatch.job': job };
}

/** The value of `error.type`: the name of the error, as OpenTelemetry defines it. */
export function errorTypeOf(error: unknown): string {
  try {
    if (error instanceof Error) return String(error.name);
  } catch {
    // A job can throw anything, even a revoked Proxy.
  }
  return '_OTHER';
}
