/** Each side has its own rows, so that they do not wait for each other. */
export const BASELINE_LOCK = 'bench-baseline';
export const LIBRARY_LOCK = 'bench-library';

/** Held by another owner as long as it is measured. */
export const CONTENDED_LOCK = 'bench-contended';

/** As an application writes it, and as it is sent to the database. */
export const LOCK_AT_MOST_FOR = '10m';
export const LOCK_AT_MOST_FOR_US = 600_000_000;
