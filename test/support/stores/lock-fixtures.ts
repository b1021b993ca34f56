import { StorageBasedLockProvider, type LockProvider } from 'cronlatch/provider';
import type { LockProviderFixture } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { parseDuration } from '#cronlatch/core/duration';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';
import { ambientTransaction } from '../databases/ambient-transaction';
import { insertLockRow, nextMillisecond, shiftBack } from '../databases/lock-table';
import type { ContractPlaces, Place } from './places';

export function memoryFixture(): WithoutTransactions {
  const clock = new SettableClock();
  const accessor = new InMemoryStorageAccessor(clock);
  const instance = (): LockProvider =>
    Object.assign(new StorageBasedLockProvider(accessor, { clock }), {
      released: accessor.released.bind(accessor),
    });
  return {
    provider: instance(),
    other: instance(),
    elapse: (duration) => clock.advance(duration),
    stall: (duration) => clock.stall(duration),
    deleteRecord: (name) => void accessor.delete(name),
    async existingRecord({ name, lockedBy, endsInMs }) {
      accessor.delete(name);
      await accessor.insertRecord({ name, owner: lockedBy, lockAtMostForMs: endsInMs, lockAtLeastForMs: 0 });
    },
    dispose: () => {},
  };
}

type WithoutTransactions = LockProviderFixture<'ambientTransaction' | 'staleReads'>;

/** A provider for each instance of the application. Operator actions and time use neither. */
export async function sqlFixture(places: ContractPlaces): Promise<WithoutTransactions> {
  return fixtureAt(await places.take(), places);
}

/** The same, on a server with many connections. */
export async function transactionalFixture(places: ContractPlaces): Promise<LockProviderFixture> {
  const place = await places.take();
  return {
    ...fixtureAt(place, places),
    ambientTransaction: (end, body) => ambientTransaction(place.application, end, body),
    staleReads: () => place.reader.lag(),
  };
}

function fixtureAt(place: Place, places: ContractPlaces): WithoutTransactions {
  const clock = new SettableClock();
  const { operator } = place;
  const provider = place.stores.locks({ clock });
  const other = place.otherStores.locks({ clock });
  const deleteRow = (name: string): Promise<unknown> =>
    operator.query(`DELETE FROM shedlock WHERE name = '${name}'`);
  return {
    provider,
    other,
    async elapse(duration) {
      await shiftBack(operator, parseDuration(duration, 'elapse'));
      clock.advance(duration);
    },
    async stall(duration) {
      clock.stall(duration);
      await shiftBack(operator, parseDuration(duration, 'stall'));
    },
    async deleteRecord(name) {
      await deleteRow(name);
      // The store's clock seeds the tokens, and SQLite's clock has steps of a millisecond.
      await nextMillisecond(operator);
    },
    async existingRecord(record) {
      await deleteRow(record.name);
      await insertLockRow(operator, record);
    },
    async dispose() {
      await Promise.all([provider.close(), other.close()]);
      await place.reader.dispose();
      await places.giveBack(place);
    },
  };
}
