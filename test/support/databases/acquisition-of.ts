/**
 * The owner that an acquisition wrote to `locked_by`. An extension appends its number, and a release its
 * mark.
 */
export function acquisitionOf(lockedBy: string): string {
  return lockedBy.replace(/(\/\d+)?(\/released)?$/, '');
}
