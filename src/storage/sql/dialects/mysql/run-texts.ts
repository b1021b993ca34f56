import { runColumns, summaryColumns } from '../../run-rows';
import type { QuotedRunTables, RunTexts } from '../../sql-dialect';
import type { RunTableShape } from '../../run-table-shape';

export function runTexts({ run, event }: QuotedRunTables, { now, keyIndex }: RunTableShape): RunTexts {
  const us = (instant: string): string => `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${instant})`;
  const at = (parameter: string): string =>
    `TIMESTAMPADD(MICROSECOND, ${parameter}, TIMESTAMP'1970-01-01 00:00:00')`;
  const after = (parameter: string): string => `TIMESTAMPADD(MICROSECOND, ${parameter}, ${now})`;
  // To the collation that MySQL and MariaDB both have, spaces at the end are nothing.
  const is = (column: string, parameter: string): string =>
    `(${column} = ${parameter} AND LENGTH(${column}) = LENGTH(${parameter}))`;
  const ofJob = `${is('job_name', ':job')} AND ${is('scope', ':scope')}`;
  const ofKey = `${ofJob} AND ${is('period_key', ':periodKey')}`;
  // By another index, InnoDB would also lock rows and gaps of other runs, and wait for whoever has locked them.
  const byKey = `FORCE INDEX (\`${keyIndex.replaceAll('`', '``')}\`)`;
  const isDue = `state IN ('pending', 'failed') AND next_attempt_at <= ${now}`;
  const ids = `JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) d`;
  const isOldAndOver = (row: string): string =>
    `(${row}.state IN ('completed', 'skipped') OR (${row}.state = 'failed' AND ${row}.next_attempt_at IS NULL))
        AND ${row}.updated_at < ${after(':before')}
        AND (${row}.period_end IS NULL OR ${row}.period_end < ${after(':before')})`;
  return {
    peek: `SELECT n.now_us, n.first_us, ${summaryColumns(us)}
      FROM (
        SELECT ${us(now)} AS now_us, (
          SELECT ${us('period_start')} FROM ${run}
          WHERE ${ofJob} AND period_start IS NOT NULL ORDER BY period_start LIMIT 1) AS first_us
      ) n
      LEFT JOIN (
        SELECT id FROM ${run} WHERE ${ofKey}
        UNION SELECT id FROM ${run} WHERE ${ofJob} AND state = 'running'
        UNION SELECT id FROM ${run} WHERE ${ofJob} AND ${isDue}
        UNION SELECT id FROM ${run} WHERE ${ofJob} AND period_start >= ${at(':since')}
      ) found ON TRUE
      LEFT JOIN ${run} r ON r.id = found.id`,
    owed: `SELECT job_name, scope, period_key, state FROM ${run}
      WHERE state = 'running' OR (${isDue})
      ORDER BY COALESCE(next_attempt_at, started_at), id LIMIT 1000`,
    insert: `INSERT INTO ${run} (job_name, scope, period_key, period_start, period_end, time_zone,
        state, attempt, next_attempt_at, claimed_by, lock_id, fencing_token, lease_until,
        first_started_at, started_at, reason, created_at, updated_at)
      VALUES (:job, :scope, :periodKey, ${at(':periodStart')}, ${at(':periodEnd')}, :timeZone,
        :state, :attempt, ${after(':dueAfter')}, :claimedBy, :lockId, :fencingToken, ${after(':leaseFor')},
        ${after(':startedAfter')}, ${after(':startedAfter')}, :reason, ${now}, ${now})`,
    lock: `SELECT ${us(now)} AS now_us, ${runColumns(us)} FROM ${run} r ${byKey} WHERE ${ofKey} FOR UPDATE`,
    write: `UPDATE ${run}
      SET state = :state, generation = :generation, attempt = :attempt, next_attempt_at = ${at(':nextAttemptAt')},
        claimed_by = :claimedBy, lock_id = :lockId, fencing_token = :fencingToken, lease_until = ${at(':leaseUntil')},
        first_started_at = ${at(':firstStartedAt')}, started_at = ${at(':startedAt')}, finished_at = ${at(':finishedAt')},
        reason = :reason, result = :result, error = :error, updated_at = ${now}
      WHERE id = :id`,
    insertEvent: `INSERT INTO ${event} (run_id, at, generation, attempt, kind, actor, fencing_token, detail)
      VALUES (:id, ${now}, :generation, :attempt, :kind, :actor, :fencingToken, :detail)`,
    complete: `UPDATE ${run} ${byKey}
      SET state = 'completed', finished_at = ${now}, updated_at = ${now}, result = :result,
        next_attempt_at = NULL, reason = NULL, error = NULL
      WHERE ${ofKey} AND generation = :generation AND attempt = :attempt
        AND ${is('claimed_by', ':claimedBy')} AND state = 'running'`,
    find: `SELECT ${runColumns(us)} FROM ${run} r`,
    findBy: {
      job: is('job_name', ':job'),
      scope: is('scope', ':scope'),
      periodKey: is('period_key', ':periodKey'),
      states: `FIND_IN_SET(state, :states) > 0`,
      from: `period_start >= ${at(':notBefore')}`,
      to: `period_start < ${at(':before')}`,
    },
    events: `SELECT ${us('e.at')} AS at, e.generation AS generation, e.attempt AS attempt, e.kind AS kind,
        e.actor AS actor, e.fencing_token AS fencing_token, e.detail AS detail
      FROM ${run} r JOIN ${event} e ON e.run_id = r.id WHERE ${ofKey} ORDER BY e.id`,
    // What another transaction has locked is about to change.
    purgeable: (limit) => `SELECT r.id AS id FROM ${run} r
      LEFT JOIN (
        SELECT u.job_name, u.scope, MIN(u.period_start) AS kept_from FROM ${run} u
        WHERE NOT (${isOldAndOver('u')}) GROUP BY u.job_name, u.scope
      ) k ON k.job_name = r.job_name AND k.scope = r.scope
      WHERE ${isOldAndOver('r')}
        AND (r.period_start IS NULL OR k.kept_from IS NULL OR r.period_start < k.kept_from)
        AND EXISTS (
          SELECT 1 FROM ${run} n WHERE n.job_name = r.job_name AND n.scope = r.scope
            AND (COALESCE(n.period_start, n.created_at) > COALESCE(r.period_start, r.created_at)
              OR (COALESCE(n.period_start, n.created_at) = COALESCE(r.period_start, r.created_at) AND n.id > r.id)))
      ORDER BY COALESCE(r.period_start, r.created_at), r.id LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
    deleteEvents: `DELETE e FROM ${ids} STRAIGHT_JOIN ${event} e ON e.run_id = d.id`,
    deleteRuns: `DELETE r FROM ${ids} STRAIGHT_JOIN ${run} r ON r.id = d.id`,
  };
}
