// More of this subject: core/lease, ledger/cases/claim-replies.test.ts, faults/storage/sql/lost-connections.test.ts, faults/integrations, chaos/simulation
import { sampleSize } from '../../support/checks/sample-size';
import { testAmbiguous } from './ambiguous-bench';
import { LOCK_SAMPLES } from './lock-samples';
import { RUN_SAMPLES } from './run-samples';
import { trySamples } from './try-samples';

const times = sampleSize({ fast: 10, full: 500 });

testAmbiguous('for every lost reply, the reported result matches the database (F-39)', async (bench, t) => {
  await trySamples(bench, t, [...LOCK_SAMPLES, ...RUN_SAMPLES], { times, lost: 'reply' });
});
