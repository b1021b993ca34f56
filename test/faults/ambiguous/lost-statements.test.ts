import { sampleSize } from '../../support/checks/sample-size';
import { testAmbiguous } from './ambiguous-bench';
import { LOCK_SAMPLES } from './lock-samples';
import { RUN_SAMPLES } from './run-samples';
import { trySamples } from './try-samples';

const times = sampleSize({ fast: 4, full: 100 });

testAmbiguous(
  'for every statement that is lost, with or without a broken connection, the reported result matches the database (F-38, F-40)',
  async (bench, t) => {
    await trySamples(bench, t, [...LOCK_SAMPLES, ...RUN_SAMPLES], { times, lost: 'statement' });
  },
);
