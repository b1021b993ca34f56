const MOST_RESULT_BYTES = 64 * 1024;
const MOST_ERROR_BYTES = 8 * 1024;
const MARK = '… (cut)';
/** The most causes to describe. Fewer than this fill the stored text many times over. */
const MOST_DESCRIBED = 100;

/** @throws the error of `JSON.stringify`, or of a `toJSON` method */
export function storedResult(value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : cut(text, MOST_RESULT_BYTES);
}

/** Names, messages, stacks and causes of an error. No other properties, because they may hold values of a statement. */
export function storedError(error: unknown): string {
  try {
    return storedText(describe(error, new Set()));
  } catch {
    // A job can throw anything, even a value that throws when it is inspected.
    return storedText(`thrown: ${textOf(error)}`);
  }
}

/** The stored text of a job's own text. No store keeps a NUL or half a surrogate pair. */
export function storedText(text: string): string {
  return cut(text.replaceAll('\0', '\\0').toWellFormed(), MOST_ERROR_BYTES);
}

function describe(error: unknown, seen: Set<unknown>): string {
  if (!(error instanceof Error)) return `thrown: ${textOf(error)}`;
  if (seen.has(error)) return `${error.name} (again)`;
  if (seen.size >= MOST_DESCRIBED) return '…';
  seen.add(error);
  const own = textOf(error.stack ?? `${error.name}: ${error.message}`);
  const inner = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  const causes = error.cause === undefined ? [] : [`caused by: ${describe(error.cause, seen)}`];
  return [own, ...inner.map((each) => `one of: ${describe(each, seen)}`), ...causes].join('\n');
}

/** A thrown value may fail to convert to a text. */
function textOf(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null
      ? Object.prototype.toString.call(value)
      : String(value);
  } catch {
    return typeof value;
  }
}

/** Cuts by bytes of UTF-8, never through the middle of a character. */
function cut(text: string, mostBytes: number): string {
  if (Buffer.byteLength(text) <= mostBytes) return text;
  const bytes = Buffer.from(text).subarray(0, mostBytes - Buffer.byteLength(MARK));
  return `${new TextDecoder().decode(bytes).replace(/\uFFFD+$/, '')}${MARK}`;
}
