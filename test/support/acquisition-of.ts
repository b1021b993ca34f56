/** The owner that an acquisition wrote, in `locked_by`: an extension appends its number, and a release its mark. */
export function acquisitionOf(lockedBy: string): string {
  return lockedBy.replace(/(\/\d+)?(\/released)?$/, '');
}
