import type { BrokenStore } from './breakable-store';

/** Stores that decide by a plain read, which a proxy may send to a replica. */
export const BROKEN_READS: readonly BrokenStore[] = [
  {
    does: 'asks a replica whether a lock is held',
    caughtBy: 'with stale reads, a new lock is granted, released and granted again (P4, F-36)',
    breaks: ({ plainRead, updateRecord }) => ({
      async updateRecord(request, options) {
        const record = plainRead(request.name);
        return record?.held ? { heldBy: record } : await updateRecord(request, options);
      },
    }),
  },
  {
    does: 'asks a replica whether a lock is free',
    caughtBy: 'with stale reads, a held lock is refused (P1, F-36)',
    breaks: (store) => ({
      updateRecord(request) {
        const record = store.plainRead(request.name);
        store.beforeWrite();
        return Promise.resolve(record?.held ? { heldBy: record } : store.grant(request));
      },
    }),
  },
  {
    does: 'asks a replica whether it has granted a lock',
    caughtBy: 'with stale reads, each free lock of many is granted, and each held one refused (P4, F-36)',
    breaks: (store) => ({
      updateRecord(request) {
        store.beforeWrite();
        if (store.takeOver(request) === undefined) return Promise.resolve(undefined);
        const record = store.plainRead(request.name);
        return Promise.resolve(record?.lockedBy === request.owner ? record : 'held');
      },
    }),
  },
  {
    does: 'asks a replica whether it has extended a lease',
    caughtBy: 'with stale reads, leases are extended and released, but not a lost one (P6, F-36)',
    breaks: ({ plainRead, extend }) => ({
      async extend(request) {
        await extend(request);
        return plainRead(request.name)?.lockedBy === request.nextOwner;
      },
    }),
  },
];
