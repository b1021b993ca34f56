/**
 * npm run chaos: workers that use locks and runs on a real server, with random faults in them, their
 * connections and the server. Exit 0: all promises were kept. 1: a promise was broken, or the campaign was
 * incomplete. 2: usage.
 */
import { campaign } from './campaign';
import { parseOptions, USAGE, UsageError } from './options';
import { writeReport } from './report/write-report';

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () =>
      interruption.abort(new Error(`Ended early by ${signal}: this does not count as a campaign.`)),
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
