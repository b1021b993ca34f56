import type { Row, Table } from './table';

/** One measured ratio. */
interface Point {
  readonly label: string;
  readonly ratio: number;
  readonly lower: number;
  readonly upper: number;
  readonly isUnsettled: boolean;
}

const WIDTH = 920;
const LABELS = 470;
const ROW = 20;
const TOP = 44;
const LEAST = 1 / 32;
const MOST = 32;

/** An SVG with each ratio to its baseline, and the range of half of the rounds. `undefined` without any ratio. */
export function plotOf(tables: readonly Table[]): string | undefined {
  const points = tables.flatMap(({ title, rows }) => rows.flatMap((row) => pointOf(title, row) ?? []));
  if (points.length === 0) return undefined;
  const height = TOP + points.length * ROW + 16;
  const lines = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16].map((ratio) => gridLine(ratio, height));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>Ratios to the driver alone</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="8" y="20" font-weight="bold">Calls per second, divided by those of the baseline (1)</text>`,
    ...lines,
    ...points.map(dotOf),
    `</svg>`,
    '',
  ].join('\n');
}

function pointOf(title: string, { name, isBaseline, values }: Row): Point | undefined {
  const { ratio, lowerQuartile: lower, upperQuartile: upper, verdict } = values;
  if (isBaseline || typeof ratio !== 'number' || typeof lower !== 'number' || typeof upper !== 'number')
    return undefined;
  return { label: `${title}: ${name}`, ratio, lower, upper, isUnsettled: verdict === 'unsettled' };
}

/** The scale is logarithmic: half as fast is as far from the baseline as twice as fast. */
function x(ratio: number): number {
  const share = Math.log(Math.min(MOST, Math.max(LEAST, ratio)) / LEAST) / Math.log(MOST / LEAST);
  return Math.round(LABELS + share * (WIDTH - LABELS - 12));
}

function gridLine(ratio: number, height: number): string {
  const color = ratio === 1 ? '#444' : '#ddd';
  const label = ratio < 1 ? `1/${1 / ratio}` : String(ratio);
  return [
    `<line x1="${x(ratio)}" x2="${x(ratio)}" y1="${TOP - 4}" y2="${height - 8}" stroke="${color}"/>`,
    `<text x="${x(ratio)}" y="${TOP - 8}" text-anchor="middle" fill="#444">${label}</text>`,
  ].join('\n');
}

/** An unsettled ratio is hollow. */
function dotOf({ label, ratio, lower, upper, isUnsettled }: Point, index: number): string {
  const y = TOP + index * ROW + ROW / 2;
  const fill = isUnsettled ? 'white' : '#1f6feb';
  return [
    `<text x="8" y="${y + 4}">${escaped(shortened(label))}</text>`,
    `<line x1="${x(lower)}" x2="${x(upper)}" y1="${y}" y2="${y}" stroke="#1f6feb" stroke-width="3" stroke-opacity="0.4"/>`,
    `<circle cx="${x(ratio)}" cy="${y}" r="4" fill="${fill}" stroke="#1f6feb"/>`,
  ].join('\n');
}

function shortened(label: string): string {
  return label.length > 72 ? `${label.slice(0, 71)}…` : label;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
