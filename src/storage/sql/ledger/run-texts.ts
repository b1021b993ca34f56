import { quotePath, type SqlDialect, type TableShape } from '../dialects/sql-dialect';
import type { TableColumn, TableDefinition } from '../schema/table-definition';
import { RUN_KEY, type RunTables } from '../schema/tables';
import { fieldsOf } from './job-statements';

export type RunTexts = ReturnType<typeof runTexts>;

const QUARTER_US = 15 * 60 * 1_000_000;

/**
 * The statements of one ledger. The dialects differ only in their words. Instants and durations are parameters in
 * microseconds, or `null`.
 */
// eslint-disable-next-line max-lines-per-function -- a list of texts
export function runTexts(tables: RunTables, dialect: SqlDialect, shape: TableShape) {
  const [run, event] = [quotePath(tables.run.path, dialect), quotePath(tables.event.path, dialect)];
  const { now } = shape;
  const words = dialect.runFragments(shape);
  const { us, at, after, is, integer, byKey, returningId } = words;
  const summaryColumns = summaryColumnsOf(tables.run);
  const summaryFields = fieldsOf(summaryColumns, us);
  const runFields = `${summaryFields}, r.result AS result, r.error AS error`;
  const ofKey = `${is('job_name', ':job')} AND ${is('scope', ':scope')} AND ${is('period_key', ':periodKey')}`;
  const isDue = `state IN ('pending', 'failed') AND next_attempt_at <= ${now}`;
  const isOldAndOver = `(r.state IN ('completed', 'skipped') OR (r.state = 'failed' AND r.next_attempt_at IS NULL))
        AND r.updated_at < ${after(':before')}
        AND (r.period_end IS NULL OR r.period_end < ${after(':before')})`;
  // CASE keeps PostgreSQL's planner from reading all running runs by the index on the states.
  const isRunning = `CASE WHEN state = 'running' THEN 1 ELSE 0 END = 1`;
  // MySQL reads single entries of the index on the periods only if ORDER BY names all columns of that index.
  const newestOf = (subject: string, column: string, offset = 0): string => `(
            SELECT n.${column} FROM ${run} n
            WHERE n.job_name = ${subject}.job_name AND n.scope = ${subject}.scope AND n.period_start IS NOT NULL
            ORDER BY n.job_name DESC, n.scope DESC, n.period_start DESC LIMIT 1 OFFSET ${offset})`;
  const findBy = {
    job: is('job_name', ':job'),
    scope: is('scope', ':scope'),
    periodKey: is('period_key', ':periodKey'),
    from: `period_start >= ${at(':notBefore')}`,
    to: `period_start < ${at(':before')}`,
  };
  const ofJobsInPeriod = (jobs: number): string => {
    const listed = Array.from({ length: jobs }, (_, number) => `:job${number}`).join(', ');
    const ofJobs = jobs === 1 ? is('job_name', listed) : `job_name IN (${listed})`;
    return `${ofJobs} AND ${findBy.from} AND ${findBy.to}`;
  };
  const start = us('r.period_start');
  return {
    /**
     * For so many requests, whose parameters end with their numbers. Returns each run that one of them requests, and for
     * each request a row with its number as `member`, now_us and first_us.
     */
    peek: (requests: number): string => {
      const numbers = Array.from({ length: requests }, (_, number) => number);
      const ofJobOf = (n: number): string => `${is('job_name', `:job${n}`)} AND ${is('scope', `:scope${n}`)}`;
      const any = (condition: (number: number) => string): string =>
        `(${numbers.map((number) => `(${condition(number)})`).join(' OR ')})`;
      const runs = `SELECT NULL AS member, NULL AS now_us, NULL AS first_us, CASE WHEN EXISTS (
          SELECT 1 FROM ${event} e WHERE e.run_id = r.id AND e.kind = 'purged') THEN 1 ELSE 0 END AS is_marked,
          ${summaryFields}
        FROM (
          SELECT id FROM ${run} WHERE ${any((n) => `${ofJobOf(n)} AND ${is('period_key', `:periodKey${n}`)}`)}
          UNION SELECT id FROM ${run} WHERE state = 'running' AND ${any(ofJobOf)}
          UNION SELECT id FROM ${run} WHERE ${isDue} AND ${any(ofJobOf)}
          UNION SELECT id FROM ${run} WHERE ${any((n) => `${ofJobOf(n)} AND period_start >= ${at(`:since${n}`)}`)}
        ) found JOIN ${run} r ON r.id = found.id`;
      const noSummary = summaryColumns.map(() => 'NULL').join(', ');
      const ofRequest = (number: number): string => `SELECT ${number}, ${us(now)}, (
          SELECT ${us('period_start')} FROM ${run}
          WHERE ${ofJobOf(number)} AND period_start IS NOT NULL ORDER BY period_start LIMIT 1), 0, ${noSummary}`;
      return [runs, ...numbers.map(ofRequest)].join(' UNION ALL ');
    },
    /** For the jobs of the JSON array `:jobs`. */
    overdue: `SELECT job_name, scope FROM ${run}
      WHERE (state = 'running' OR (${isDue})) AND ${words.isListedJob}
      GROUP BY job_name, scope ORDER BY MIN(COALESCE(next_attempt_at, started_at)), MIN(id) LIMIT 1000`,
    /** `:dueAfter`, `:leaseFor` and `:startedAfter` count from the current time. */
    insert: `INSERT INTO ${run} (job_name, scope, period_key, period_start, period_end, time_zone,
        state, attempt, next_attempt_at, claimed_by, lock_id, fencing_token, lease_until,
        first_started_at, started_at, reason, created_at, updated_at)
      VALUES (:job, :scope, :periodKey, ${at(':periodStart')}, ${at(':periodEnd')}, :timeZone,
        :state, :attempt, ${after(':dueAfter')}, :claimedBy, :lockId, :fencingToken, ${after(':leaseFor')},
        ${after(':startedAfter')}, ${after(':startedAfter')}, :reason, ${now}, ${now})${words.orNothing(RUN_KEY.join(', '))}${returningId}`,
    /** Waits for writers, and also returns now_us. */
    lock: `SELECT ${us(now)} AS now_us, ${runFields} FROM ${run} r${byKey} WHERE ${ofKey}${words.forUpdate}`,
    write: `UPDATE ${run}
      SET state = :state, generation = :generation, attempt = :attempt, next_attempt_at = ${at(':nextAttemptAt')},
        claimed_by = :claimedBy, lock_id = :lockId, fencing_token = :fencingToken, lease_until = ${at(':leaseUntil')},
        first_started_at = ${at(':firstStartedAt')}, started_at = ${at(':startedAt')}, finished_at = ${at(':finishedAt')},
        reason = :reason, result = :result, error = :error, updated_at = ${now}
      WHERE id = :id${returningId}`,
    insertEvent: `INSERT INTO ${event} (run_id, at, generation, attempt, kind, actor, fencing_token, detail)
      VALUES (:id, COALESCE(${at(':at')}, ${now}), :generation, :attempt, :kind, :actor, :fencingToken, :detail)${returningId}`,
    complete: `UPDATE ${run}${byKey}
      SET state = 'completed', finished_at = ${now}, updated_at = ${now}, result = :result,
        next_attempt_at = NULL, error = NULL
      WHERE ${ofKey} AND generation = :generation AND attempt = :attempt
        AND ${is('claimed_by', ':claimedBy')} AND ${isRunning}${returningId}`,
    /** Conditions, an order and a limit must follow. */
    find: `SELECT ${runFields} FROM ${run} r`,
    findBy,
    /** The newest run of each job and scope, and those that are running or interrupted. */
    latest: `SELECT ${summaryFields}, SUBSTR(r.error, 1, 500) AS error FROM (
        SELECT COALESCE(${newestOf('g', 'id')}, (
          SELECT n.id FROM ${run} n
          WHERE n.job_name = g.job_name AND n.scope = g.scope AND n.period_start IS NULL
          ORDER BY n.id DESC LIMIT 1)) AS id
        FROM (${words.subjects(run)}) g
        UNION SELECT id FROM ${run} WHERE state IN ('running', 'interrupted')
      ) found JOIN ${run} r ON r.id = found.id LIMIT 10000`,
    /**
     * For so many jobs, whose parameters end with their numbers. A limit must follow. With a JSON array, the planners cannot
     * estimate the number of jobs, and MySQL and PostgreSQL sort all runs of the period before they apply the limit.
     */
    summaries: (jobs: number): string => `SELECT ${summaryFields} FROM ${run} r WHERE ${ofJobsInPeriod(jobs)}
      ORDER BY r.period_start DESC, r.id DESC`,
    /** For so many jobs, like `summaries`. The remainder of an instant before 1970 is negative, so it is taken twice. */
    counts: (jobs: number): string => `SELECT r.job_name AS job_name, r.state AS state,
        ${start} - (${start} % ${QUARTER_US} + ${QUARTER_US}) % ${QUARTER_US} AS quarter_start, COUNT(*) AS runs,
        ROUND(AVG(${us('r.finished_at')} - ${us('r.started_at')})) AS mean_us
      FROM ${run} r WHERE ${ofJobsInPeriod(jobs)}
      GROUP BY r.job_name, r.state, quarter_start ORDER BY quarter_start DESC LIMIT 50000`,
    /** For the elements of the JSON array `:jobs`. */
    since: `SELECT ${summaryFields} FROM ${words.elements(':jobs', { job: 'text', since: 'integer' })}
      JOIN ${run} r ON r.job_name = j.job AND r.period_start >= ${at('j.since')} LIMIT 100000`,
    events: `SELECT ${us('e.at')} AS at, e.generation AS generation, e.attempt AS attempt, e.kind AS kind,
        e.actor AS actor, e.fencing_token AS fencing_token, e.detail AS detail
      FROM ${run} r JOIN ${event} e ON e.run_id = r.id WHERE ${ofKey} ORDER BY e.at, e.id`,
    /**
     * The next 1,000 runs below an id, the highest id first. `undated`: it has no period. `deletable`: it has been
     * final for longer than `-:before`, and a later period of its job and scope has a run.
     */
    purgeable: `SELECT r.id AS id, r.job_name AS job_name, r.scope AS scope,
        CASE WHEN r.period_start IS NULL THEN 1 ELSE 0 END AS undated, CASE WHEN ${isOldAndOver}
          AND (r.period_start IS NULL OR r.period_start < ${newestOf('r', 'period_start')}) THEN 1 ELSE 0 END AS deletable
      FROM ${run} r WHERE r.id < ${integer(':below')} ORDER BY r.id DESC LIMIT 1000`,
    /** 1,000 final runs of older ticks than the newest so many of their job and scope. A tick has no end. */
    trimmable: (kept: number): string => `SELECT r.id AS id, 0 AS undated, 1 AS deletable
      FROM ${words.executedOnce(`SELECT g.job_name, g.scope,
          CASE WHEN ${newestOf('g', 'period_end')} IS NULL THEN ${newestOf('g', 'period_start', kept - 1)} END AS kept_from
        FROM (${words.subjects(run)}) g`)} k
      JOIN ${run} r ON r.job_name = k.job_name AND r.scope = k.scope AND r.period_start < k.kept_from
      WHERE k.kept_from IS NOT NULL AND r.period_end IS NULL AND ${isOldAndOver} LIMIT 1000`,
    /** Locks those of `:ids` that have been final for that long. A locked row is about to change, so it stays. */
    lockPurgeable: `SELECT r.id AS id FROM ${words.listed(run, 'r', 'id')} ${isOldAndOver}${words.skipLocked}`,
    /** Marks the first run after `:ids` of each of their jobs and scopes, but for ticks. Without such a run, the statement must fail. */
    markPurged: `INSERT INTO ${event} (run_id, at, generation, attempt, kind, actor)
      SELECT m.id, ${now}, 0, 0, 'purged', 'ledger.purge' FROM (
        SELECT DISTINCT (
          SELECT n.id FROM ${run} n
          WHERE n.job_name = g.job_name AND n.scope = g.scope AND n.period_start > g.last_start
          ORDER BY n.job_name, n.scope, n.period_start LIMIT 1) AS id
        FROM (
          SELECT r.job_name, r.scope, MAX(r.period_start) AS last_start
          FROM ${words.listed(run, 'r', 'id')} r.period_end IS NOT NULL
          GROUP BY r.job_name, r.scope) g) m
      WHERE NOT EXISTS (SELECT 1 FROM ${event} e WHERE e.run_id = m.id AND e.kind = 'purged')${returningId}`,
    /** Both take the JSON array `:ids`. */
    deleteEvents: words.deleteListed(event, 'e', 'run_id'),
    deleteRuns: words.deleteListed(run, 'r', 'id'),
  };
}

/** Without the texts that can be long. */
function summaryColumnsOf({ columns }: TableDefinition): readonly TableColumn[] {
  const instants = columns.filter(({ kind }) => kind.is === 'instant');
  const values = columns.filter(({ kind }) => !['instant', 'note', 'document'].includes(kind.is));
  return [...values, ...instants];
}
