/**
 * npm run chaos: workers under locks and with runs of the ledger on a real server, while they, their connections and the
 * server are struck at random. Exit 0: all promises were kept. 1: one was not, or the campaign was none. 2: usage.
 */
import { campaign } from './campaign';
import { parseOptions, USAGE, UsageError } from './options';
import { writeReport } from './report/write-report';

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () =>
      interruption.abort(new Error(`Ended early by ${signal}: that is no campaign.`)),
    );
  const { minutes, server, seed } = options;
  console.log(`chaos: ${minutes} min on ${server}, seed ${seed}`);
  const startedAt = new Date();
  const outcome = await campaign(options, interruption.signal);
  const { files, text } = await writeReport(options, outcome, startedAt);
  console.log(`\n${text}\n${files.map((file) => `report: ${file}`).join('\n')}`);
  return outcome.complaints.length === 0 ? 0 : 1;
}

main().then(
  (status) => process.exit(status),
  (error: Error & { cause?: unknown }) => {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n${USAGE}`);
      process.exit(2);
    }
    console.error(error.name === 'AbortError' ? error.cause : error);
    process.exit(1);
  },
);
