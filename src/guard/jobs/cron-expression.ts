/** Whether one of the last three fields (day, month and weekday) is not a wildcard. */
export function skipsDates(expression: string): boolean {
  return fieldsOf(expression)
    .slice(-3)
    .some((field) => field !== '*' && field !== '?');
}

/** Whether an expression of six fields, with seconds first, fires more than once in a minute. */
export function firesWithinAMinute(expression: string): boolean {
  const fields = fieldsOf(expression);
  if (fields.length !== 6) return false;
  return new Set(fields[0]?.split(',').flatMap(secondsOf)).size > 1;
}

function fieldsOf(expression: string): string[] {
  return expression.trim().split(/\s+/);
}

const PART = /^(?:[*?]|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/;

/** The seconds of one part of the field, such as `5`, `10-20` or `0-59/15`. None for a notation that is unknown here. */
function secondsOf(part: string): number[] {
  const match = PART.exec(part);
  if (match === null) return [];
  const [, first, last, step] = match;
  const isOne = first !== undefined && last === undefined && step === undefined;
  const from = Number(first ?? 0);
  const to = isOne ? from : Number(last ?? 59);
  const every = Math.max(1, Number(step ?? 1));
  const seconds: number[] = [];
  for (let second = from; second <= Math.min(to, 59); second += every) seconds.push(second);
  return seconds;
}
