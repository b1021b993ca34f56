import { ratio as written } from './format';
import type { Row, Table } from './table';

/** One measured ratio. */
interface Point {
  readonly name: string;
  readonly ratio: number;
  readonly lower: number;
  readonly upper: number;
  readonly goal: number | undefined;
  readonly isUnsettled: boolean;
}

const WIDTH = 920;
const LEFT = 300;
const RIGHT = 850;
const ROW = 19;
const TOP = 86;
const LEAST = 1 / 16;
const MOST = 8;

const OWN = '#1f6feb';
const OTHER = '#6e7781';
const GOAL = '#1a7f37';
const TEXT = '#1f2328';

/** An SVG with each ratio to its baseline, and the range of half of the rounds. `undefined` without any ratio. */
export function plotOf(tables: readonly Table[]): string | undefined {
  const groups = tables
    .map(({ title, rows }) => ({ title, points: rows.flatMap((row) => pointOf(row) ?? []) }))
    .filter(({ points }) => points.length > 0);
  if (groups.length === 0) return undefined;
  const lines: string[] = [];
  let y = TOP;
  for (const { title, points } of groups) {
    y += ROW * 1.5;
    lines.push(text(8, y, title, `font-weight="bold"`));
    for (const point of points) lines.push(rowOf(point, (y += ROW)));
  }
  const height = y + ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="${TEXT}">`,
    `<title>Ratios to the driver alone</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    text(
      8,
      22,
      'Calls per second, divided by those of the baseline (1)',
      `font-weight="bold" font-size="14"`,
    ),
    legend(46),
    ...[1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8].map((ratio) => gridLine(ratio, height)),
    ...lines,
    `</svg>`,
    '',
  ].join('\n');
}

function pointOf({ name, isBaseline, values }: Row): Point | undefined {
  const { ratio, lowerQuartile: lower, upperQuartile: upper, goal, verdict } = values;
  if (isBaseline || typeof ratio !== 'number' || typeof lower !== 'number' || typeof upper !== 'number')
    return undefined;
  const isUnsettled = verdict === 'unsettled';
  return { name, ratio, lower, upper, goal: typeof goal === 'number' ? goal : undefined, isUnsettled };
}

/** The scale is logarithmic: half as fast is as far from the baseline as twice as fast. */
function x(ratio: number): number {
  const share = Math.log(Math.min(MOST, Math.max(LEAST, ratio)) / LEAST) / Math.log(MOST / LEAST);
  return Math.round(LEFT + share * (RIGHT - LEFT));
}

function gridLine(ratio: number, height: number): string {
  const color = ratio === 1 ? '#444' : '#ddd';
  return [
    `<line x1="${x(ratio)}" x2="${x(ratio)}" y1="${TOP}" y2="${height - 8}" stroke="${color}"/>`,
    text(x(ratio), TOP - 6, ratio < 1 ? `1/${1 / ratio}` : String(ratio), `text-anchor="middle"`),
  ].join('\n');
}

/** An unsettled ratio is hollow. */
function rowOf({ name, ratio, lower, upper, goal, isUnsettled }: Point, y: number): string {
  const color = /^(library|cronlatch)/.test(name) ? OWN : OTHER;
  return [
    text(20, y, name),
    bar(x(lower), x(upper), y, color),
    ...(goal === undefined ? [] : [goalMark(x(goal), y)]),
    dot(x(ratio), y, color, isUnsettled),
    text(WIDTH - 8, y, written(ratio), `text-anchor="end"`),
  ].join('\n');
}

function legend(y: number): string {
  return [
    dot(14, y, OWN, false) + text(24, y, 'library'),
    dot(84, y, OTHER, false) + text(94, y, 'others'),
    dot(150, y, OWN, true) + text(160, y, 'unsettled: the machine was busy'),
    bar(376, 400, y, OWN) + text(408, y, 'half of the rounds'),
    goalMark(536, y) + text(546, y, 'goal'),
  ].join('\n');
}

function dot(at: number, y: number, color: string, isHollow: boolean): string {
  return `<circle cx="${at}" cy="${y - 4}" r="4" fill="${isHollow ? 'white' : color}" stroke="${color}" stroke-width="1.5"/>`;
}

function bar(from: number, to: number, y: number, color: string): string {
  return `<line x1="${from}" x2="${to}" y1="${y - 4}" y2="${y - 4}" stroke="${color}" stroke-width="4" stroke-opacity="0.4"/>`;
}

function goalMark(at: number, y: number): string {
  return `<line x1="${at}" x2="${at}" y1="${y - 11}" y2="${y + 3}" stroke="${GOAL}" stroke-width="2"/>`;
}

function text(at: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${at}" y="${y}"${attributes && ` ${attributes}`}>${escaped}</text>`;
}
