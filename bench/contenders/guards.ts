import type { JobGuard } from 'cronlatch';
import { createJobGuard, type CreateJobGuardOptions } from 'cronlatch/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';

/** A way to create a guard. */
export interface Variant {
  readonly name: string;
  readonly options: CreateJobGuardOptions;
  /** Whether the locks of one turn of the event loop travel together. */
  readonly groups: boolean;
  /** The jobs run once per tick instead of once per day. */
  readonly oncePerTick?: true;
}

/** The rows of the library in each table. The first has the defaults. */
export const VARIANTS: readonly [Variant, ...Variant[]] = [
  { name: 'library', options: {}, groups: true },
  { name: 'library, without grouping', options: { grouping: false }, groups: false },
];

/** The rows of the library for many runs at once. Their claims are not grouped, so more connections can help. */
export const RUN_VARIANTS: readonly Variant[] = [
  ...VARIANTS,
  { name: 'library, with five connections', options: { connections: 5 }, groups: true },
];

/** The rows of the library for jobs that are all due at once. */
export const NIGHT_VARIANTS: readonly Variant[] = [
  ...RUN_VARIANTS,
  { name: 'library, once per tick', options: {}, groups: true, oncePerTick: true },
];

/** A guard on the application's DataSource. It logs nothing, and neither do the other contenders. */
export async function openGuard(
  options: DataSourceOptions,
  variant: CreateJobGuardOptions = {},
): Promise<JobGuard> {
  return await createJobGuard(new DataSource(options), { logger: false, pollInterval: false, ...variant });
}
