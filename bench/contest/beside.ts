import { spawn } from 'node:child_process';
import type { BenchPlace } from '../databases/bench-database';
import { ratio } from '../report/format';
import type { Row } from '../report/table';
import { slice } from './alternate';
import type { Contender, Entry } from './contender';
import type { ContestSettings, Ground } from './contest';
import { median } from './statistics';

/** A measurement of another program, such as another library in another language. */
export interface Beside {
  /** `undefined`: the row shows that it was not measured. */
  readonly command: string | undefined;
  readonly workers: number;
  readonly baseline: Entry;
  /** The ratio of the library to the baseline, for the ratio of the library to the program. */
  readonly libraryRatio: number | undefined;
}

/** A program cannot take turns, so the baseline runs before it and after it. */
export async function measureBeside(
  { command, workers, baseline, libraryRatio }: Beside,
  { slices, sliceMs, warmUpMs }: ContestSettings,
  { server, database, log }: Ground<BenchPlace>,
): Promise<Row> {
  if (command === undefined) return { name: 'beside', values: { verdict: 'not measured: no --beside' } };
  const seconds = Math.max(1, Math.round((slices * sliceMs) / 1000));
  log(`  ${command}: ${seconds} s`);
  try {
    const before = await baselineRate();
    const perSecond = await rateOf(command, {
      BENCH_SECONDS: String(seconds),
      BENCH_WORKERS: String(workers),
      BENCH_SERVER: server.name,
      BENCH_URL: urlOf(database.options),
    });
    const after = await baselineRate();
    const ratios = [perSecond / before, perSecond / after];
    const middle = median(ratios);
    const [lowerQuartile, upperQuartile] = [Math.min(...ratios), Math.max(...ratios)];
    return {
      name: command,
      values: {
        ...{ perSecond, ratio: middle, lowerQuartile, upperQuartile },
        halfOfRounds: `${ratio(lowerQuartile)}–${ratio(upperQuartile)}`,
        libraryRatio: libraryRatio && libraryRatio / middle,
        verdict: libraryRatio && `the library reaches ${ratio(libraryRatio / middle)} of it`,
      },
    };
  } catch (error) {
    return { name: command, values: { verdict: `not measured: ${String(error)}` } };
  }

  async function baselineRate(): Promise<number> {
    await using contender: Contender = await baseline.open();
    await slice(contender, { workers, sliceMs: warmUpMs });
    const { latenciesMs, elapsedMs } = await slice(contender, { workers, sliceMs: (seconds * 1000) / 2 });
    return (latenciesMs.length / elapsedMs) * 1000;
  }
}

/** The last line of its output is the number of pairs per second. */
async function rateOf(command: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(command, {
    shell: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (status !== 0) throw new Error(`it ended with status ${String(status)}`);
  return parseRate(output);
}

/** @throws Error if the last line is not a positive number */
export function parseRate(output: string): number {
  const last = output.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const rate = /^\d+(\.\d+)?$/.test(last) ? Number(last) : NaN;
  if (rate > 0) return rate;
  throw new Error(`its last line is '${last}' instead of a number of pairs per second`);
}

function urlOf(options: object): string {
  const { url, database } = options as { readonly url?: string; readonly database?: string };
  return url ?? `sqlite:${database ?? ''}`;
}
