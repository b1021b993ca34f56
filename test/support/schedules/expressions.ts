/** Random expressions, most of them near the hours in which clocks change. */
import fc from 'fast-check';
import type { Dialect } from '#cronlatch/ledger/periods/schedule-expression';

type Text = fc.Arbitrary<string>;

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTHS_IN_FULL = ['January', 'MARCH', 'april', 'September', 'October', 'november'];
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');
const WEEKDAYS_IN_FULL = ['Sunday', 'MONDAY', 'saturday', 'Friday'];

interface Range {
  readonly least: number;
  readonly most: number;
  /** Values that are chosen often. */
  readonly often?: readonly number[];
}

function numberIn({ least, most, often = [] }: Range): fc.Arbitrary<number> {
  const any = fc.integer({ min: least, max: most });
  return often.length === 0 ? any : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...often) }, any);
}

/** One part of a list: a number, a range, a step, and what only one dialect reads. */
function partOf(dialect: Dialect, range: Range): Text {
  const number = numberIn(range);
  const step = fc.integer({ min: 1, max: dialect === 'croner' ? range.most - range.least + 1 : 70 });
  const pair = fc
    .tuple(number, number)
    .map(([a, b]) => (dialect === 'node-cron' || a <= b ? `${a}-${b}` : `${b}-${a}`));
  const withStep = fc.tuple(pair, step).map(([text, by]) => `${text}/${by}`);
  const open = fc.tuple(number, step).map(([from, by]) => `${from}/${by}`);
  return fc.oneof(
    { weight: 5, arbitrary: number.map(String) },
    pair,
    withStep,
    step.map((by) => `*/${by}`),
    ...(dialect === 'cron' ? [open] : []),
  );
}

function listOf(part: Text): Text {
  return fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','));
}

function field(dialect: Dialect, range: Range, stars: number, special: readonly Text[] = []): Text {
  const part = fc.oneof({ weight: 4, arbitrary: partOf(dialect, range) }, ...special);
  return fc.oneof(
    { weight: stars, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: part },
    listOf(part),
  );
}

function dayOf(dialect: Dialect): Text {
  const special = [
    fc.constantFrom('L', 'l', 'LW', 'L-3'),
    numberIn({ least: 1, most: 31, often: [1, 28, 29, 30, 31] }).map((day) => `${day}W`),
  ];
  const marked = dialect === 'node-cron' || dialect === 'croner';
  return field(dialect, { least: 1, most: 31, often: [28, 29, 30, 31, 1] }, 9, marked ? special : []);
}

function weekdayOf(dialect: Dialect): Text {
  const name = fc.constantFrom(...WEEKDAYS, ...(dialect === 'node-cron' ? WEEKDAYS_IN_FULL : []));
  const which = fc.constantFrom('L', 'l', '#1', '#2', '#4', '#5');
  const value = fc.oneof(name, fc.integer({ min: 0, max: 7 }).map(String));
  const special = fc.tuple(value, which).map((parts) => parts.join(''));
  const marked = dialect === 'node-cron' || dialect === 'croner';
  return field(dialect, { least: 0, most: 7, often: [0, 7, 6] }, 9, [name, ...(marked ? [special] : [])]);
}

function monthOf(dialect: Dialect): Text {
  const name = fc.constantFrom(...MONTHS, ...(dialect === 'node-cron' ? MONTHS_IN_FULL : []));
  return field(dialect, { least: 1, most: 12, often: [3, 4, 9, 10, 11] }, 12, [name]);
}

/** Not every one of them is read by its scheduler. */
export function expressions(dialect: Dialect): Text {
  const minute = field(dialect, { least: 0, most: 59, often: [0, 15, 30, 45, 59] }, 1);
  const hour = field(dialect, { least: 0, most: 23, often: [0, 1, 2, 3, 23] }, 2);
  const five = fc.tuple(minute, hour, dayOf(dialect), monthOf(dialect), weekdayOf(dialect));
  const second = field(dialect, { least: 0, most: 59, often: [0, 30] }, 1);
  const six = fc.tuple(second, five).map(([first, rest]) => [first, ...rest]);
  const plain = five.map((fields) => [...fields]);
  const all = dialect === 'unix' ? plain : fc.oneof({ weight: 3, arbitrary: plain }, six);
  return all.map((fields) => fields.join(' '));
}
