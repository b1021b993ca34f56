/**
 * What is known of a statement that ended in an error:
 *
 * - `nothing-ran`: the store refused it, or it was never sent.
 * - `contention`: the store undid it because of other transactions (deadlock, lock wait, busy). Trying again is right.
 * - `unknown`: it may or may not have taken effect, now or later (connection lost, no answer in time).
 */
export type StorageOutcome = 'nothing-ran' | 'contention' | 'unknown';
