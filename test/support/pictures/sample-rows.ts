import Database from 'better-sqlite3';
import { periodAt, type PeriodKind } from '#cronlatch/ledger/periods/period';
import { timeText } from '#cronlatch/ledger/operator/state-of-run';
import { TIME_ZONE } from './sample-jobs';

/** One attempt of a run. Instants are milliseconds since 1970, as in all of the sample. */
export interface SampleAttempt {
  readonly startedAt: number;
  /** `undefined`: it is running. */
  readonly finishedAt?: number;
  readonly error?: string;
  /** How often an operator had run it again before. */
  readonly generation?: number;
  readonly instance: string;
}

export interface SampleRun {
  readonly job: string;
  readonly kind: PeriodKind;
  readonly tickAt: number;
  /** Those before the last one have failed. */
  readonly attempts: readonly SampleAttempt[];
  readonly state: 'completed' | 'failed' | 'interrupted' | 'running';
  readonly reason?: string;
  readonly result?: object | undefined;
}

export interface SampleAct {
  readonly at: number;
  readonly actor: string;
  readonly verb: string;
  readonly job: string;
  readonly period?: string;
  readonly lock?: string;
  readonly reason: string;
}

/** Writes what the instances of the sample would have written. */
export class SampleRows {
  readonly #database: Database.Database;
  #ids = 0;

  constructor(file: string) {
    this.#database = new Database(file);
  }

  close(): void {
    this.#database.close();
  }

  inOneStep(write: () => void): void {
    this.#database.transaction(write)();
  }

  change(statement: string, ...values: readonly (string | number)[]): void {
    this.#database.prepare(statement).run(...values);
  }

  /** @returns the id of the row */
  insert(table: string, row: Readonly<Record<string, string | number | null>>): number {
    const names = Object.keys(row);
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    return Number(this.#database.prepare(text).run(...Object.values(row)).lastInsertRowid);
  }

  /** Unique, and the same each time that the sample is made. */
  owner(instance: string): string {
    this.#ids += 1;
    return `${instance}/00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
  }

  /** A run, and the events of its failed attempts. @returns its id */
  run({ job, kind, tickAt, attempts, state, reason, result }: SampleRun): number {
    const { key, start, end } = periodAt(new Date(tickAt), { kind, timeZone: TIME_ZONE });
    const numbered = attempts.map((attempt, index) => ({
      ...{ generation: 0, ...attempt, owner: this.owner(attempt.instance) },
      number: attempts.slice(0, index + 1).filter((each) => each.generation === attempt.generation).length,
    }));
    const last = numbered.at(-1)!;
    const first = numbered.find(({ generation }) => generation === last.generation)!;
    const endedAt = last.finishedAt ?? last.startedAt;
    const run = this.insert('cronlatch_run', {
      ...{ job_name: job, scope: '', period_key: key, time_zone: TIME_ZONE, state },
      ...{ period_start: us(start?.getTime()), period_end: us(end?.getTime()) },
      ...{ generation: last.generation, attempt: last.number, claimed_by: last.owner },
      ...{ fencing_token: us(last.startedAt), lease_until: us(last.startedAt + 86_400_000) },
      ...{ first_started_at: us(first.startedAt), started_at: us(last.startedAt) },
      ...{ finished_at: us(last.finishedAt), reason: reason ?? null, error: last.error ?? null },
      ...{ result: result ? JSON.stringify(result) : null },
      ...{ created_at: us(attempts[0]!.startedAt), updated_at: us(endedAt) },
    });
    for (const { generation, number, owner, startedAt, finishedAt = endedAt, error } of numbered)
      if (error !== undefined)
        this.insert('cronlatch_run_event', {
          ...{ run_id: run, at: us(finishedAt), generation, attempt: number, kind: 'failed', actor: owner },
          ...{ fencing_token: us(startedAt), detail: error },
        });
    if (state === 'interrupted')
      this.insert('cronlatch_run_event', {
        ...{ run_id: run, at: us(endedAt), generation: 0, attempt: last.number, kind: 'lost' },
        ...{ actor: last.owner, fencing_token: us(last.startedAt) },
        detail: `its lease ended; the attempt had started at ${timeText(new Date(last.startedAt), TIME_ZONE)}`,
      });
    return run;
  }

  /** What an operator has done. With a run, also its event. */
  act({ at, actor, verb, job, period, lock, reason }: SampleAct, run?: { id: number; state: string }): void {
    this.insert('cronlatch_run_act', {
      ...{
        id: this.owner('act').slice(4),
        at: us(at),
        actor,
        verb,
        job_name: job,
        period_key: period ?? null,
      },
      ...{ lock_name: lock ?? null, reason, state: 'done', detail: '{}', taken_by: this.owner('ops-1/801') },
      ...{ due_at: us(at), expires_at: us(at), ended_at: us(at + 3) },
    });
    if (run !== undefined)
      this.insert('cronlatch_run_event', {
        ...{ run_id: run.id, at: us(at), generation: 0, attempt: 1, kind: verb, actor },
        detail: `${reason} (was ${run.state})`,
      });
  }

  /** Locks that are held until then. Earlier ones are free. */
  lock(name: string, owner: string, lockedAt: number, lockUntil: number): void {
    this.insert('shedlock', {
      ...{ name, locked_by: owner, locked_at: us(lockedAt), lock_until: us(lockUntil) },
      fencing_token: us(lockedAt),
    });
  }

  log(run: number, lines: readonly string[], { at, generation = 0, progress = [null, null] }: LogPart): void {
    this.insert('cronlatch_run_log', {
      ...{
        run_id: run,
        at: us(at),
        generation,
        attempt: 1,
        lines: lines.map((line) => `${line}\n`).join(''),
      },
      ...{ done: progress[0], total: progress[1] },
    });
  }
}

interface LogPart {
  readonly at: number;
  readonly generation?: number;
  readonly progress?: readonly [done: number, total: number] | readonly [null, null];
}

/** SQLite has no type for instants: the tables keep microseconds. */
export function us(ms: number): number;
export function us(ms: number | undefined): number | null;
export function us(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms) * 1000;
}
