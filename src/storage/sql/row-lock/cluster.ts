import type { SqlResult } from '../connections/sql-executor';
import type { DialectName } from '../dialects/sql-dialect';

/** Returns the variables that `clusterProblem` needs. PostgreSQL has no such clusters of its own. */
export const CLUSTER_VARIABLES: Readonly<Partial<Record<DialectName, string>>> = {
  mysql: `SHOW GLOBAL VARIABLES WHERE Variable_name IN
    ('wsrep_on', 'group_replication_group_name', 'group_replication_single_primary_mode')`,
};

/** Why row locks do not exclude one another on this server; `undefined` if they do. */
export function clusterProblem(rows: SqlResult['rows']): string | undefined {
  const variables = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  if (variables.get('wsrep_on') === 'ON') return 'it is a node of a Galera cluster (wsrep_on = ON)';
  const isInGroup = (variables.get('group_replication_group_name') ?? '') !== '';
  if (!isInGroup || variables.get('group_replication_single_primary_mode') !== 'OFF') return undefined;
  return 'it is a member of a group with several primaries (group_replication_single_primary_mode = OFF)';
}
