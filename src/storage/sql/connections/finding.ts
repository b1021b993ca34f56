/** Something about a database that an operator of cronlatch should know. */
export interface Finding {
  /**
   * `error`: locks or runs are unsafe, or no job can run. `warning`: cronlatch works, within the limit that `problem`
   * names. `info`: nothing is wrong.
   */
  readonly severity: 'error' | 'warning' | 'info';
  /** Programs read it, so it never changes. */
  readonly code: string;
  /** What was found, where, and what it causes. */
  readonly problem: string;
  readonly fix: string;
  /** The SQL statement of the fix, if one can do it. */
  readonly statement: string | undefined;
}

/** The severity and the fix of each finding. Those of the verification of tables have their own. */
export const CATALOGUE = {
  'clock-offset': ['warning', 'Synchronize the clocks with NTP. Set lockAtLeastFor longer than they differ.'],
  'clock-wrong': ['error', 'Synchronize the clocks with NTP.'],
  cluster: ['warning', 'Synchronize their clocks with NTP, or use only one node.'],
  'few-connections': ['warning', 'Raise the limit, or use smaller pools.'],
  'missing-privilege': ['error', 'Grant it.'],
  'network-file': ['error', 'Move the file to a local disk. For several machines, use a database server.'],
  'not-durable': ['error', 'Change the setting, and keep it in the configuration of the server.'],
  'not-examined': ['error', 'Fix the cause, and call doctor again.'],
  'old-server': ['error', 'Use a newer version.'],
  pooler: ['warning', 'Use a direct address. Otherwise nothing has to be done.'],
  'read-only': ['error', 'Connect to the primary, or allow writes if this is the primary.'],
  'read-split': ['warning', 'Connect to the primary directly. With Pgpool-II, set load_balance_mode = off.'],
  'rollback-mode': ['warning', 'Switch the file to WAL.'],
  'sequence-behind': ['error', 'Run this statement as the owner of the table.'],
  'unsynced-commit': ['info', 'If that matters, set it to FULL, in prepareDatabase of a DataSource.'],
} as const;

export function finding(code: keyof typeof CATALOGUE, problem: string, statement?: string): Finding {
  const [severity, fix] = CATALOGUE[code];
  return { severity, code, problem, fix, statement };
}
