/**
 * npm run torture: six rows of faults for one scheduled job in two processes, each for node-cron's own
 * coordination with a Redis and for cronlatch. A witness counts the runs. Exit 0: cronlatch had no faults,
 * and node-cron showed its known fault in each row. 1: otherwise. 2: usage, or it could not start.
 */
import { constants } from 'node:os';
import { UsageError as NoPlaceError } from '../campaign/options';
import { openDatabase } from '../campaign/place';
import { ownServer } from '../../support/own-server';
import { complaintsAbout, verdictLine } from './judge/verdict';
import { parseOptions, USAGE, UsageError, type TortureOptions } from './options';
import { Progress } from './report/progress';
import { tableOf } from './report/table';
import { Torture } from './torture';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') {
    console.log(USAGE);
    return 0;
  }
  const redis = await ownServer('redis');
  try {
    const place = await openDatabase(options.server);
    try {
      const progress = new Progress(process.stdout);
      progress.print(`torture: ${options.server} ${place.version}, Redis ${redis.version}`);
      const torture = new Torture({ options: place.ordersBy([]).options, redisUrl: redis.url }, progress);
      return await runUntilSignal(torture, options);
    } finally {
      await place.close();
    }
  } finally {
    await redis.stop();
  }
}

async function runUntilSignal(torture: Torture, { rows }: TortureOptions): Promise<number> {
  let stoppedBy: (typeof SIGNALS)[number] | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      stoppedBy = signal;
      torture.stop(new Error(`It was stopped by ${signal}.`));
    });
  }
  try {
    const results = await torture.run(rows);
    const complaints = complaintsAbout(results);
    console.log(['', tableOf(results), '', ...complaints, verdictLine(results)].join('\n'));
    return complaints.length === 0 ? 0 : 1;
  } catch (error) {
    if (stoppedBy === undefined) throw error;
    console.error(`The torture ended early. It was stopped by ${stoppedBy}.`);
    return 128 + constants.signals[stoppedBy];
  }
}

main().then(
  (status) => process.exit(status),
  (error: Error) => {
    const isUsage = error instanceof UsageError;
    const isNotBegun = isUsage || error instanceof NoPlaceError || error.name === 'MissingServerError';
    console.error(isUsage ? `${error.message}\n${USAGE}` : isNotBegun ? error.message : error);
    process.exit(isNotBegun ? 2 : 1);
  },
);
