/** Who reads an expression. They differ in notations, and in what two days that are both set mean. */
export type Dialect = 'node-cron' | 'cron' | 'croner' | 'unix';

export const DIALECTS: readonly Dialect[] = ['node-cron', 'cron', 'croner', 'unix'];

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const NICKNAMES_OF_CRON: Readonly<Record<string, string>> = {
  ...NICKNAMES,
  '@weekdays': '0 0 * * 1-5',
  '@weekends': '0 0 * * 0,6',
  '@minutely': '* * * * *',
  '@secondly': '* * * * * *',
};

type Field = ReturnType<typeof fieldOf>;

function fieldOf(name: string, [least, most]: readonly [number, number], names = '-') {
  // How many different values it has: a weekday of 7 is 0.
  return { name, least, most, size: most === 7 ? 7 : most - least + 1, names: names.split(' ') };
}

const FIELDS: readonly Field[] = [
  fieldOf('second', [0, 59]),
  fieldOf('minute', [0, 59]),
  fieldOf('hour', [0, 23]),
  fieldOf('day of the month', [1, 31]),
  fieldOf('month', [1, 12], '- jan feb mar apr may jun jul aug sep oct nov dec'),
  fieldOf('weekday', [0, 7], 'sun mon tue wed thu fri sat'),
];

const MOST_FIELDS: Readonly<Record<Dialect, readonly [most: number, more: string]>> = {
  'node-cron': [6, ', or 6 with seconds'],
  cron: [6, ', or 6 with seconds'],
  croner: [7, ', 6 with seconds, or 7 with a year'],
  unix: [5, ''],
};

/**
 * Rewrites the notations of a dialect into six fields of lists, which croner reads.
 *
 * @throws RangeError with the reason why it cannot be read, and the field
 */
export function readExpression(expression: string, dialect: Dialect): string {
  if (typeof expression !== 'string') throw new RangeError('it is not a text');
  const text = expression.trim();
  const nicknames = dialect === 'cron' ? NICKNAMES_OF_CRON : NICKNAMES;
  const fields = (nicknames[text.toLowerCase()] ?? text).split(/\s+/);
  const [most, more] = MOST_FIELDS[dialect];
  if (fields.length < 5 || fields.length > most)
    throw new RangeError(`its number of fields is ${fields.length} instead of 5${more}`);
  if (dialect === 'croner') return fields.join(' ');
  const [day = '', , weekday = ''] = fields.slice(-3);
  if (
    dialect === 'unix' &&
    [day, weekday].every((each) => each !== '*') &&
    [day, weekday].some((each) => each.startsWith('*'))
  )
    throw new RangeError(
      `its day of the month and its weekday are both set, and one begins with '*', which cron daemons read differently. Write the days as a list, such as 1,3,5`,
    );
  const all = fields.length === 5 ? ['0', ...fields] : fields;
  return FIELDS.map((field, index) => readField(all[index] ?? '', field, dialect)).join(' ');
}

function readField(text: string, field: Field, dialect: Dialect): string {
  if (text === '*' || (text === '?' && dialect === 'node-cron' && field.name.includes('day'))) return '*';
  const values = [...new Set(text.split(',').flatMap((part) => readPart(part, field, dialect)))];
  // cron takes a list of all values for `*`. For a daemon of Unix, only an asterisk is one.
  const isFull = values.filter((value) => typeof value === 'number').length === field.size;
  return isFull && dialect !== 'unix' ? '*' : values.join(',');
}

const PART = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/;

function readPart(part: string, field: Field, dialect: Dialect): (number | string)[] {
  const { least, most, size } = field;
  const special = dialect === 'node-cron' ? specialOf(part, field) : undefined;
  if (special !== undefined) return [special];
  const [, star, first, last, step] = PART.exec(part) ?? [];
  const from = star === undefined ? valueOf(first, field, dialect) : least;
  // For cron, `5/15` begins at 5 and goes to the end. Others refuse it.
  const isOpen = star !== undefined || (last === undefined && step !== undefined && dialect === 'cron');
  const to = isOpen ? most : valueOf(last ?? first, field, dialect);
  const by = Number(step ?? 1);
  const isSingleStep = !isOpen && last === undefined && step !== undefined;
  // For node-cron, `22-2` goes over the end.
  const isBackward = from !== undefined && to !== undefined && to < from;
  if (
    from === undefined ||
    to === undefined ||
    by < 1 ||
    isSingleStep ||
    (isBackward && dialect !== 'node-cron')
  )
    throw new RangeError(`its ${field.name} is '${part}'`);
  const span = isBackward ? to - from + size : to - from;
  const values: number[] = [];
  for (let offset = 0; offset <= span; offset += by) values.push(((from - least + offset) % size) + least);
  return values;
}

/** What croner reads as node-cron does. `L-2` is not among it, nor `LW` in a list. */
function specialOf(part: string, { name, names }: Field): string | undefined {
  const text = part.toUpperCase();
  if (name === 'day of the month') return /^(L|LW|([1-9]|[12]\d|3[01])W)$/.test(text) ? text : undefined;
  const [, day = '', which] = (name === 'weekday' && /^([0-7]|[A-Z]+?)(L|#[1-5])$/.exec(text)) || [];
  const named = names.indexOf(day.slice(0, 3).toLowerCase());
  return which && `${named >= 0 ? named : Number(day) % 7}${which}`;
}

/** A number, or a name such as `jan`, and for node-cron also `Monday`. */
function valueOf(text = '', { least, most, names }: Field, dialect: Dialect): number | undefined {
  const word = text.toLowerCase();
  const named = names.indexOf(dialect === 'node-cron' ? word.slice(0, 3) : word);
  const value = named >= 0 ? named : /^\d+$/.test(word) ? Number(word) : NaN;
  return value >= least && value <= most ? value : undefined;
}
