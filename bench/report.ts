import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Absolutes, Figures } from './figures';
import { columns, milliseconds, rate, ratio } from './format';
import { GOALS, judge, type Verdict } from './goals';
import type { Measurement } from './measure';
import type { Settings } from './settings';

const HEAD = ['', 'pairs', 'p50', 'p99', 'ratio', 'half of rounds', 'goal', ''];

const VERDICTS: Readonly<Record<Verdict, string>> = {
  reached: 'reached',
  'below the goal': 'BELOW THE GOAL',
  unsettled: 'UNSETTLED: the machine is busy, run it again',
};

/** The table, with all the data needed to compare its figures with others. */
export function reportOf(measurements: readonly Measurement[], { slices, sliceMs }: Settings): string {
  const rows = measurements.flatMap(rowsOf);
  return [
    ...columns([HEAD, ...rows]),
    '',
    ...measurements.map(describe),
    `a pair is a lock and an unlock; one at a time; ${slices} rounds of two slices of ${sliceMs} ms`,
    `Node ${process.versions.node}, ${versions('typeorm', 'mysql2', 'pg')}`,
    `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, load ${(loadavg()[0] ?? NaN).toFixed(1)}`,
  ].join('\n');
}

function rowsOf({ server, figures }: Measurement): string[][] {
  const spread = `${ratio(figures.lowerQuartile)}–${ratio(figures.upperQuartile)}`;
  return [
    [`${server.name}: driver alone, prepared`, ...absolutes(figures.baseline), '1', '', '', ''],
    [
      `${server.name}: @SchedulerLock`,
      ...absolutes(figures.library),
      ratio(figures.ratio),
      spread,
      ...verdict(server.name, figures),
    ],
  ];
}

function absolutes({ pairsPerSecond, p50Ms, p99Ms }: Absolutes): string[] {
  return [rate(pairsPerSecond), milliseconds(p50Ms), milliseconds(p99Ms)];
}

function verdict(server: string, figures: Figures): string[] {
  const goal = GOALS[server];
  return goal === undefined
    ? ['none', '']
    : [`≥ ${goal.ratio} (later ${goal.later})`, VERDICTS[judge(figures, goal)]];
}

function describe({ server, durability, connections }: Measurement): string {
  return `${server.name} ${server.version} (${server.origin}): ${durability}; connections of the library: ${connections}`;
}

function versions(...packages: readonly string[]): string {
  const versionOf = (name: string): string =>
    (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }).version;
  return packages.map((name) => `${name} ${versionOf(name)}`).join(', ');
}
