import assert from 'node:assert/strict';
import { sampleSize } from '../../support/checks/sample-size';
import { SERVER_NAMES, testOnOwn } from '../../support/databases/fresh';
import { shortCampaign } from '../campaign/short-campaign';

const MINUTES = sampleSize({ fast: '0.4', full: '5' });

for (const server of SERVER_NAMES)
  testOnOwn(
    server,
    `locks never overlap, and the effects of transactional runs happen once each, in ${MINUTES} minutes of all faults at once (F-01, F-03, F-04, F-43)`,
    async (t) => {
      const { grants, runs } = await shortCampaign(server, MINUTES);
      t.diagnostic(`${grants} grants, ${runs.transactional} transactional runs, ${runs.repeated} repeated`);
      assert.ok(runs.repeated > 0, 'no fault hit a run');
    },
  );
