/**
 * The one clock of all processes. `performance.now()` would count from the start of each process, and its
 * `timeOrigin` is wall-clock time, which may be set meanwhile.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
