import { readFileSync } from 'node:fs';

export interface CodeBlock {
  readonly language: string;
  /** The file that the first line names in a comment, which `text` leaves out. */
  readonly path: string | undefined;
  readonly text: string;
}

/** The code on a page of the documentation. */
export function codeBlocksOf(page: string): CodeBlock[] {
  const blocks = readFileSync(page, 'utf8').matchAll(
    /^```(?<language>\w*)\n(?:\/\/ (?<path>\S+)\n)?(?<text>[^]*?)^```$/gm,
  );
  return [...blocks].map(({ groups }) => ({
    language: groups?.['language'] ?? '',
    path: groups?.['path'],
    text: groups?.['text'] ?? '',
  }));
}

/** SQL as it is sent or shown: without comments, quotes and line breaks. */
export function plainSql(sql: string): string {
  return sql.replace(/--.*$/gm, '').replace(/[`";]/g, '').replace(/\s+/g, ' ').trim();
}

/** The rows of the table whose first column has this title, each as its cells. */
export function tableOf(page: string, firstHead: string): string[][] {
  const lines = readFileSync(page, 'utf8').split('\n');
  const cells = (line: string): string[] =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  const head = lines.findIndex((line) => line.startsWith('|') && cells(line)[0] === firstHead);
  const body = lines.slice(head + 2);
  return body
    .slice(
      0,
      body.findIndex((line) => !line.startsWith('|')),
    )
    .map(cells);
}
