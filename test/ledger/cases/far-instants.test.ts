import assert from 'node:assert/strict';
import { operations } from 'cronlatch/operations';
import { faultyInstance } from '../../support/faults/run-store';
import { addRuns, BY } from '../../support/jobs/acts';
import { dayJob } from '../../support/jobs/day-job';
import { testLedger } from '../../support/stores/ledger-tests';

for (const [year, when] of [
  [1699, 'past'],
  [2300, 'future'],
] as const) {
  const far = new Date(Date.UTC(year, 6, 1));

  testLedger(
    `an instant too far in the ${when} to be stored is rejected before any statement`,
    async (place) => {
      const { guard, faulty } = faultyInstance(place);
      const { ledger } = guard;
      const run = guard.wrap(dayJob(), () => {}, { scheduledAt: () => far, onError: 'throw' });
      const job = 'close-day';
      const period = `${year}-07-01`;
      const calls: readonly [string, () => Promise<unknown>][] = [
        ['from of ledger.list', () => ledger.list({ from: far })],
        ['to of ledger.list', () => ledger.list({ to: far })],
        ['from of ledger.gaps', () => ledger.gaps(job, { from: far })],
        ['at of ledger.explain', () => ledger.explain(job, { at: far })],
        ['from', () => addRuns(guard, { from: period, to: period, force: true })],
        [
          `The start of the run of job '${job}' for ${period}`,
          () => operations(guard).skip({ job, period }, BY),
        ],
        [`at of job '${job}'`, () => guard.run({ ...dayJob(), at: far }, () => {})],
        [`scheduledAt of job '${job}'`, () => guard.run({ ...dayJob(), scheduledAt: far }, () => {})],
        [`scheduledAt of job '${job}'`, () => run()],
      ];
      const start = new RegExp(`^(.*) is ${year}-0.*Z: .* valid Date in the years 1700 to 2250`);
      for (const [what, call] of calls)
        await assert.rejects(call(), (error: Error) => {
          assert.equal(error.name, 'InvalidLockConfigurationError', `${what}: ${error.message}`);
          assert.equal(start.exec(error.message)?.[1], what, error.message);
          return true;
        });
      assert.deepEqual(faulty.calls, []);
    },
  );
}
