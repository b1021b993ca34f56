import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'examples';

/** The comment with which an example begins. */
export interface Header {
  /** What it shows. */
  readonly lesson: string;
  readonly command: string;
  /** What it prints: the indented lines after each `Prints:`. `…` stands for any text, and alone for any lines. */
  readonly printed: readonly (readonly string[])[];
}

/** The path of each example's source, by its name. The demo has its own tests. */
export const EXAMPLES: ReadonlyMap<string, string> = new Map(
  readdirSync(FOLDER).flatMap((entry) => {
    const index = join(entry, 'index.ts');
    if (existsSync(join(FOLDER, index))) return [[entry, join(FOLDER, index)]];
    return /\.m?[jt]s$/.test(entry) ? [[entry.replace(/\.\w+$/, ''), join(FOLDER, entry)]] : [];
  }),
);

export function sourceOf(name: string): string {
  const path = EXAMPLES.get(name);
  assert.ok(path !== undefined, `there is no example '${name}'`);
  return path;
}

export function headerOf(name: string): Header {
  const comment = /^\/\*\*\n([^]*?)\n \*\/\n/.exec(readFileSync(sourceOf(name), 'utf8'))?.[1];
  assert.ok(comment !== undefined, `${name} begins with a comment`);
  const lines = comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
  const printed: string[][] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('  ')) continue;
    if (lines[index - 1]?.endsWith(':')) printed.push([]);
    printed.at(-1)?.push(line.slice(2));
  }
  const run = lines.find((line) => line.startsWith('Run'));
  return {
    lesson: lines.slice(0, lines.indexOf('')).join(' '),
    command: run?.slice(run.indexOf(': ') + 2) ?? '',
    printed,
  };
}

/** @param more what may follow */
export function patternOf(expected: readonly string[], more: '' | '[^]*' = ''): RegExp {
  const lines = expected.map((line) => (line === '…' ? '(?:.*\\n)*?' : `${linePattern(line)}\\n`));
  return new RegExp(`^${lines.join('')}${more}$`);
}

export function linePattern(line: string): string {
  return line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*');
}
