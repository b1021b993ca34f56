import { runColumns, summaryColumns } from '../../ledger/run-rows';
import type { QuotedRunTables, RunTableShape, RunTexts } from '../sql-dialect';

export function runTexts({ run, event }: QuotedRunTables, { now }: RunTableShape): RunTexts {
  const us = (instant: string): string => instant;
  const at = us;
  const after = (parameter: string): string => `${now} + ${parameter}`;
  const ofJob = 'job_name = :job AND scope = :scope';
  const ofKey = `${ofJob} AND period_key = :periodKey`;
  const isDue = `state IN ('pending', 'failed') AND next_attempt_at <= ${now}`;
  const ids = `(SELECT value FROM json_each(:ids))`;
  const isOldAndOver = (row: string): string =>
    `(${row}.state IN ('completed', 'skipped') OR (${row}.state = 'failed' AND ${row}.next_attempt_at IS NULL))
        AND ${row}.updated_at < ${after(':before')}
        AND (${row}.period_end IS NULL OR ${row}.period_end < ${after(':before')})`;
  const isUndated = 'CASE WHEN r.period_start IS NULL THEN 1 ELSE 0 END';
  return {
    peek: `SELECT n.now_us, n.first_us, ${summaryColumns(us)}
      FROM (
        SELECT ${us(now)} AS now_us, COALESCE((
          SELECT ${us('p.period_start')} FROM ${run} p
          WHERE ${ofJob} AND p.period_start >= ${at(':since')}
            AND EXISTS (SELECT 1 FROM ${event} e WHERE e.run_id = p.id AND e.kind = 'purged')
          ORDER BY p.period_start DESC LIMIT 1), (
          SELECT ${us('period_start')} FROM ${run}
          WHERE ${ofJob} AND period_start IS NOT NULL ORDER BY period_start LIMIT 1)) AS first_us
      ) n
      LEFT JOIN (
        SELECT id FROM ${run} WHERE ${ofKey}
        UNION SELECT id FROM ${run} WHERE ${ofJob} AND state = 'running'
        UNION SELECT id FROM ${run} WHERE ${ofJob} AND ${isDue}
        UNION SELECT id FROM ${run} WHERE ${ofJob} AND period_start >= ${at(':since')}
      ) found ON TRUE
      LEFT JOIN ${run} r ON r.id = found.id`,
    owed: `SELECT job_name, scope FROM ${run}
      WHERE (state = 'running' OR (${isDue})) AND job_name IN (SELECT value FROM json_each(:jobs))
      GROUP BY job_name, scope ORDER BY MIN(COALESCE(next_attempt_at, started_at)), MIN(id) LIMIT 1000`,
    insert: `INSERT INTO ${run} (job_name, scope, period_key, period_start, period_end, time_zone,
        state, attempt, next_attempt_at, claimed_by, lock_id, fencing_token, lease_until,
        first_started_at, started_at, reason, created_at, updated_at)
      VALUES (:job, :scope, :periodKey, ${at(':periodStart')}, ${at(':periodEnd')}, :timeZone,
        :state, :attempt, ${after(':dueAfter')}, :claimedBy, :lockId, :fencingToken, ${after(':leaseFor')},
        ${after(':startedAfter')}, ${after(':startedAfter')}, :reason, ${now}, ${now})
      ON CONFLICT (job_name, scope, period_key) DO NOTHING RETURNING id`,
    // The transaction that it begins is the only one that writes.
    lock: `SELECT ${us(now)} AS now_us, ${runColumns(us)} FROM ${run} r WHERE ${ofKey}`,
    write: `UPDATE ${run}
      SET state = :state, generation = :generation, attempt = :attempt, next_attempt_at = ${at(':nextAttemptAt')},
        claimed_by = :claimedBy, lock_id = :lockId, fencing_token = :fencingToken, lease_until = ${at(':leaseUntil')},
        first_started_at = ${at(':firstStartedAt')}, started_at = ${at(':startedAt')}, finished_at = ${at(':finishedAt')},
        reason = :reason, result = :result, error = :error, updated_at = ${now}
      WHERE id = :id RETURNING id`,
    insertEvent: `INSERT INTO ${event} (run_id, at, generation, attempt, kind, actor, fencing_token, detail)
      VALUES (:id, ${now}, :generation, :attempt, :kind, :actor, :fencingToken, :detail) RETURNING id`,
    complete: `UPDATE ${run}
      SET state = 'completed', finished_at = ${now}, updated_at = ${now}, result = :result,
        next_attempt_at = NULL, reason = NULL, error = NULL
      WHERE ${ofKey} AND generation = :generation AND attempt = :attempt
        AND claimed_by = :claimedBy AND state = 'running' RETURNING id`,
    find: `SELECT ${runColumns(us)} FROM ${run} r`,
    findBy: {
      job: 'job_name = :job',
      scope: 'scope = :scope',
      periodKey: 'period_key = :periodKey',
      states: `instr(',' || :states || ',', ',' || state || ',') > 0`,
      from: `period_start >= ${at(':notBefore')}`,
      to: `period_start < ${at(':before')}`,
    },
    events: `SELECT ${us('e.at')} AS at, e.generation AS generation, e.attempt AS attempt, e.kind AS kind,
        e.actor AS actor, e.fencing_token AS fencing_token, e.detail AS detail
      FROM ${run} r JOIN ${event} e ON e.run_id = r.id WHERE ${ofKey} ORDER BY e.id`,
    purgeable: `SELECT r.id AS id, r.job_name AS job_name, r.scope AS scope, ${isUndated} AS undated,
        CASE WHEN ${isOldAndOver('r')}
          AND (r.period_start IS NULL OR r.period_start < (
            SELECT n.period_start FROM ${run} n
            WHERE n.job_name = r.job_name AND n.scope = r.scope AND n.period_start IS NOT NULL
            ORDER BY n.job_name DESC, n.scope DESC, n.period_start DESC LIMIT 1)) THEN 1 ELSE 0 END AS deletable
      FROM ${run} r WHERE r.id < :below ORDER BY r.id DESC LIMIT 1000`,
    lockPurgeable: `SELECT r.id AS id, ${isUndated} AS undated FROM ${run} r
      WHERE r.id >= :lowest AND r.id <= :highest
        AND CASE WHEN ${isOldAndOver('r')} THEN 1 ELSE 0 END = 1`,
    markPurged: `INSERT INTO ${event} (run_id, at, generation, attempt, kind, actor)
      SELECT m.id, ${now}, 0, 0, 'purged', 'ledger.purge' FROM (
        SELECT DISTINCT (
          SELECT n.id FROM ${run} n
          WHERE n.job_name = g.job_name AND n.scope = g.scope AND n.period_start > g.last_start
          ORDER BY n.job_name, n.scope, n.period_start LIMIT 1) AS id
        FROM (
          SELECT r.job_name, r.scope, MAX(r.period_start) AS last_start FROM ${run} r
          WHERE r.id IN ${ids} AND r.period_start IS NOT NULL
          GROUP BY r.job_name, r.scope) g) m
      WHERE NOT EXISTS (SELECT 1 FROM ${event} e WHERE e.run_id = m.id AND e.kind = 'purged') RETURNING id`,
    deleteEvents: `DELETE FROM ${event} WHERE run_id IN ${ids} RETURNING id`,
    deleteRuns: `DELETE FROM ${run} WHERE id IN ${ids} RETURNING id`,
  };
}
