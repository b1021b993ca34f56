/** An error of the compiler at a line. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** @param output of `tsc --pretty false` */
export function diagnosticsOf(output: string): Diagnostic[] {
  return output.split(/\n(?!\s)/).flatMap((text) => {
    const [, file, line] = /^(.+)\((\d+),\d+\): error /.exec(text) ?? [];
    if (file !== undefined) return [{ file, line: Number(line), text }];
    return text.trim() === '' ? [] : [{ file: '', line: 0, text }];
  });
}

/** A line that must not compile, and the text that the compiler's message must contain. */
export interface Refusal {
  readonly line: number;
  readonly words: string;
}

const EXPECTED = /\/\/ @ts-expect-error -- (?:.*"(.+)")?/;

/**
 * The lines below each `@ts-expect-error`. The compiler's message must contain the text in quotes behind it.
 */
export function refusalsOf(source: string): Refusal[] {
  return source.split('\n').flatMap((text, i) => {
    const match = EXPECTED.exec(text);
    return match === null ? [] : [{ line: i + 2, words: match[1] ?? '' }];
  });
}

/** The same lines, without the directives that allow errors. */
export function withoutExpectations(source: string): string {
  return source.replaceAll('@ts-expect-error', 'refused');
}
