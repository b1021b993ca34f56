import { SettableClock } from 'cronlatch/testing';
import { parseDuration } from '#cronlatch/core/duration';
import { ambientTransaction } from '../databases/ambient-transaction';
import { shiftJobsBack, shiftPeriodsBack, shiftRunsBack } from '../databases/run-tables';
import type { ContractPlaces, Place } from './places';
import { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import type { RunStoreFixture } from '../run-store-contract/fixture';

type WithoutTransactions = RunStoreFixture<'ambientTransaction' | 'staleReads'>;

export function memoryRunsFixture(): WithoutTransactions {
  const clock = new SettableClock();
  const runs = new InMemoryRuns({ clock });
  return {
    store: new InMemoryRunStore({ runs }),
    other: new InMemoryRunStore({ runs }),
    elapse: (duration) => clock.advance(duration),
    deleteRun: (key) => void runs.delete(key),
    dispose: () => {},
  };
}

/** A store for each instance of the application. Operator actions and time use neither. */
export async function sqlRunsFixture(places: ContractPlaces): Promise<WithoutTransactions> {
  return fixtureAt(await places.take(), places);
}

/** The same, on a server with many connections. */
export async function transactionalRunsFixture(places: ContractPlaces): Promise<RunStoreFixture> {
  const place = await places.take();
  return {
    ...fixtureAt(place, places),
    ambientTransaction: (end, body) => ambientTransaction(place.application, end, body),
    staleReads: () => place.reader.lag(),
  };
}

function fixtureAt(place: Place, places: ContractPlaces): WithoutTransactions {
  const { operator } = place;
  const store = place.stores.runs();
  const other = place.otherStores.runs();
  return {
    store,
    other,
    async elapse(duration) {
      const milliseconds = parseDuration(duration, 'elapse');
      await shiftRunsBack(operator, milliseconds);
      await shiftPeriodsBack(operator, milliseconds);
      await shiftJobsBack(operator, milliseconds);
    },
    async deleteRun({ job, scope, periodKey }) {
      const names = [job, scope, periodKey].map((name) => `'${name.replaceAll("'", "''")}'`);
      const [ofJob, inScope, forPeriod] = names;
      await operator.query(
        `DELETE FROM cronlatch_run WHERE job_name = ${ofJob} AND scope = ${inScope} AND period_key = ${forPeriod}`,
      );
    },
    async dispose() {
      await Promise.all([store.close(), other.close(), place.reader.dispose()]);
      await places.giveBack(place);
    },
  };
}
