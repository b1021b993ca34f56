/** What a compiler has against a line. */
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

/** A line that must not compile, and what the compiler must say of it. */
export interface Refusal {
  readonly line: number;
  readonly words: string;
}

const EXPECTED = /\/\/ @ts-expect-error -- (?:.*"(.+)")?/;

/** The lines below each `@ts-expect-error`. Of what stands behind it in quotes, the compiler's message must tell. */
export function refusalsOf(source: string): Refusal[] {
  return source.split('\n').flatMap((text, i) => {
    const match = EXPECTED.exec(text);
    return match === null ? [] : [{ line: i + 2, words: match[1] ?? '' }];
  });
}

/** The same lines, without leave to be wrong. */
export function withoutExpectations(source: string): string {
  return source.replaceAll('@ts-expect-error', 'refused');
}
