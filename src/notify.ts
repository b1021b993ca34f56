/**
 * Notices about jobs, for `notify` of a guard: a webhook that signs them, and the types for a function of your own.
 *
 * @packageDocumentation
 */
export { webhook } from './guard';
export type { Notice, Notify } from './guard';
