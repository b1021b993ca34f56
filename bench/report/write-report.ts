import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { byReasons, type Outcome } from './outcome';
import { plotOf } from './plot';
import { linesOf } from './surroundings';
import { markdownOf } from './table';

/** Writes a page, and its plot beside it: `performance.md` and `performance.svg`. */
export async function writeReport(file: string, outcome: Outcome): Promise<void> {
  const plot = plotOf(outcome.tables);
  const plotFile = file.replace(/\.md$/, '.svg');
  await mkdir(dirname(file), { recursive: true });
  if (plot !== undefined) await writeFile(plotFile, plot);
  await writeFile(file, pageOf(outcome, plot === undefined ? undefined : basename(plotFile)));
}

/** @param plotFile relative to the page */
export function pageOf({ surroundings, tables, missing }: Outcome, plotFile: string | undefined): string {
  const absent = byReasons(missing).map(
    ({ names, reasons }) => `- ${names.join('; ')}: ${reasons.join(' ').split('\n')[0] ?? ''}`,
  );
  const parts = [
    `# Performance, ${surroundings.date}`,
    'Written by `npm run bench`. `bench/README.md` explains how to read it.',
    linesOf(surroundings)
      .map((line) => `- ${line}`)
      .join('\n'),
    ...(plotFile === undefined
      ? []
      : [
          `![Ratios to the driver alone](${plotFile})`,
          'A dot is the median of the rounds, and half of the rounds lie on its line. A hollow dot is unsettled. The number on the right is the ratio.',
        ]),
    ...tables.map(markdownOf),
    ...(absent.length === 0 ? [] : ['## Not measured', absent.join('\n')]),
  ];
  return `${parts.join('\n\n')}\n`;
}
