/**
 * cronlatch: scheduled jobs that run on one instance at a time, by a lock in the database that the application
 * already has.
 *
 * @packageDocumentation
 */
export * from './core';
export * from './ledger';
export * from './guard';
export * from './decorator';
