import type { BrokenStore } from './breakable-store';
import type { Mutants } from './overlay';

/** Stores that decide by a plain read, which a proxy may send to a replica. */
export const BROKEN_READS: Mutants<BrokenStore> = {
  'with stale reads, a new lock is granted, released and granted again (P4, F-36)': {
    'asks a replica whether a lock is held': ({ plainRead, updateRecord }) => ({
      async updateRecord(request, options) {
        const record = plainRead(request.name);
        return record?.held ? { heldBy: record } : await updateRecord(request, options);
      },
    }),
  },
  'with stale reads, a held lock is refused (P1, F-36)': {
    'asks a replica whether a lock is free': (store) => ({
      updateRecord(request) {
        const record = store.plainRead(request.name);
        store.beforeWrite();
        return Promise.resolve(record?.held ? { heldBy: record } : store.grant(request));
      },
    }),
  },
  'with stale reads, each free lock of many is granted, and each held one refused (P4, F-36)': {
    'asks a replica whether it has granted a lock': (store) => ({
      updateRecord(request) {
        store.beforeWrite();
        if (store.takeOver(request) === undefined) return Promise.resolve(undefined);
        const record = store.plainRead(request.name);
        return Promise.resolve(record?.lockedBy === request.owner ? record : 'held');
      },
    }),
  },
  'with stale reads, leases are extended and released, but not a lost one (P6, F-36)': {
    'asks a replica whether it has extended a lease': ({ plainRead, extend }) => ({
      async extend(request) {
        await extend(request);
        return plainRead(request.name)?.lockedBy === request.nextOwner;
      },
    }),
  },
};
