import type { Spread } from '../judge/figures';
import type { Report } from './write-report';

/** For readers: the verdict first. */
export function markdownOf(report: Report): string {
  const {
    server,
    cutShort,
    minutes,
    seed,
    startedAt,
    commit,
    versions,
    figures,
    explained,
    unexplained,
    complaints,
    kept,
  } = report;
  const { runs } = figures;
  const overlaps = Object.values(explained).reduce((sum, count) => sum + count, 0);
  const notRising = complaints.filter((complaint) => complaint.startsWith('P3')).length;
  return [
    `# Chaos on ${server}${report.wait ? ' with wait' : ''}: ${complaints.length === 0 ? 'all promises kept' : 'FAILED'}`,
    '',
    `\`npm run chaos -- --minutes ${minutes} --server ${server} ${settingsOf(report)}--seed ${seed}\``,
    '',
    `${startedAt}, commit ${commit}, ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    '',
    ...table([
      ['measure', 'figure'],
      ['lock attempts at the server', figures.attempts],
      ['granted / held by another / failed', `${figures.grants} / ${figures.held} / ${figures.failed}`],
      ['**unexplained overlaps**', unexplained.length],
      ['overlaps that a lease cannot prevent', overlaps],
      ['violations of any kind', complaints.length],
      ['grants whose token was higher than all before', `${figures.grants - notRising} of ${figures.grants}`],
      ['grants with lockAtLeastFor', figures.grantsWithAtLeast],
      [
        'writes to the fenced register, of them refused as stale',
        `${figures.writes}, ${figures.staleWritesRefused}`,
      ],
      ['recovery after a holder was killed, from the end of its lease', spread(figures.recovery)],
      ['notice of a lost lease, with a free event loop', spread(figures.notice)],
      [
        'runs completed, of them in the transaction of their effects',
        `${runs.completed}, ${runs.transactional}`,
      ],
      ['… by a later attempt than the first', runs.repeated],
    ]),
    '',
    '## Faults',
    '',
    ...counts('fault', figures.faults),
    ...(Object.keys(report.swallowed).length === 0
      ? []
      : ['', '## Replies swallowed', '', ...counts('statement', report.swallowed)]),
    ...(overlaps === 0 ? [] : ['', '## Overlaps by cause', '', ...counts('cause', explained)]),
    ...(Object.keys(cutShort).length === 0
      ? []
      : ['', '## Leases that a fault cut short, by cause', '', ...counts('cause', cutShort)]),
    '',
    '## Results of the calls of the runs',
    '',
    ...counts('answer', runs.byVerdict),
    ...(complaints.length === 0
      ? []
      : ['', '## Violations', '', ...complaints.map((each) => `- ${each}`), '', `Records: ${kept}`]),
  ].join('\n');
}

function settingsOf({ keeper, wait }: Report): string {
  if (wait) return '--wait ';
  return keeper === 'table' || keeper === 'row' ? `--provider ${keeper} ` : '';
}

function spread({ count, p50, p99, longest }: Spread): string {
  return count === 0 ? 'none' : `p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms (${count})`;
}

function counts(head: string, by: Readonly<Record<string, number>>): string[] {
  return table([[head, 'count'], ...Object.entries(by).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function table(rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = rows.map((row) => row.map(String));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)];
}
