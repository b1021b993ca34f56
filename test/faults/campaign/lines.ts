import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Reads a file of JSON lines. It skips a last line that is cut off because its writer died. */
export async function linesOf<T>(file: string): Promise<T[]> {
  if (!existsSync(file)) return [];
  const values: T[] = [];
  let damaged = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line.endsWith('}')) values.push(JSON.parse(line) as T);
    else damaged += 1;
  }
  if (damaged > 1) throw new Error(`${file} is damaged in ${damaged} lines.`);
  return values;
}
