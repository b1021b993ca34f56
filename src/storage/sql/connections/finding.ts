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
  'clock-ahead': ['error', 'Check the clock of the database. npx cronlatch status shows what to do then.'],
  'clock-offset': ['warning', 'Synchronize the clocks with NTP. Set lockAtLeastFor longer than they differ.'],
  'clock-wrong': ['error', 'Synchronize the clocks with NTP.'],
  cluster: ['warning', 'Synchronize their clocks with NTP, or use only one node.'],
  'few-connections': ['warning', 'Raise the limit, or use smaller pools.'],
  'long-lease': ['warning', 'If its holder has ended: npx cronlatch rerun JOB PERIOD --force'],
  'long-lock': ['warning', 'If its holder has ended: npx cronlatch release LOCK --owner OWNER'],
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
  'stuck-run': ['warning', 'Start an instance with the job, or: npx cronlatch rerun JOB PERIOD --force'],
  'unknown-owner': ['warning', 'Find out which program writes to the table.'],
  'unsynced-commit': ['info', 'If that matters, set it to FULL, in prepareDatabase of a DataSource.'],
} as const;

export function finding(code: keyof typeof CATALOGUE, problem: string, statement?: string): Finding {
  const [severity, fix] = CATALOGUE[code];
  return { severity, code, problem, fix, statement };
}

const MOST = 10;

export function firstOfEach(findings: readonly (Finding | undefined)[]): Finding[] {
  const all = findings.filter((each) => each !== undefined);
  return [...new Set(all.map(({ code }) => code))].flatMap((code) => {
    const alike = all.filter((each) => each.code === code);
    const more = alike.length > MOST ? ` There are ${alike.length - MOST} more like this.` : '';
    return alike
      .slice(0, MOST)
      .map((each, position) => (position < MOST - 1 ? each : { ...each, problem: each.problem + more }));
  });
}
