/** The host's wall clock, as `03:00:01`. */
export function timeOf(instant: number): string {
  return new Date(instant).toTimeString().slice(0, 8);
}
