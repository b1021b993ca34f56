import type { JobGuard } from 'cronlatch';
import type { CreateJobGuardOptions } from 'cronlatch/typeorm';
import { createGuard } from '#cronlatch/integrations/sql/create-guard';
import { OwnServerConnections } from '#cronlatch/storage/sql/connections/server-connections';
import type { DriverSession, OpeningSession } from '#cronlatch/storage/sql/connections/server-driver';
import type { SqlResult, SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { DataSource, type DataSourceOptions } from 'typeorm';

/** Stands in for the driver: it records what the database answers, and later repeats the last answer to each text. */
export class StandIn {
  readonly #answers = new Map<string, Promise<SqlResult>>();
  #isReplaying = false;

  /** From now on, no statement reaches the driver. */
  replay(): void {
    this.#isReplaying = true;
  }

  /** A guard that sends its statements through this. */
  async openGuard(options: DataSourceOptions, variant: CreateJobGuardOptions): Promise<JobGuard> {
    const database = databaseOf(new DataSource(options));
    const { sessions } = database;
    if (sessions === undefined) throw new Error('This database has no sessions to stand in for.');
    const { driver } = sessions;
    const open = async (limitMs: number): Promise<OpeningSession> => {
      const { session, opened } = await sessions.open(limitMs);
      return { session: this.#sessionOn(session), opened };
    };
    return await createGuard(
      { ...database, connect: (settings) => new OwnServerConnections(driver, open, settings) },
      { logger: false, pollInterval: false, ...variant },
    );
  }

  #sessionOn(session: DriverSession): DriverSession {
    return {
      send: (statement, options) => {
        const recorded = this.#isReplaying ? this.#answers.get(statement.text) : undefined;
        if (recorded !== undefined) return withName(recorded, statement);
        if (this.#isReplaying) throw new Error(`No answer was recorded to: ${statement.text}`);
        const answer = session.send(statement, options);
        this.#answers.set(statement.text, answer);
        return answer;
      },
      onEnd: (listener) => session.onEnd(listener),
      end: () => session.end(),
      destroy: () => session.destroy(),
    };
  }
}

/** A record that is read by its name has that name. */
async function withName(recorded: Promise<SqlResult>, { values }: SqlStatement): Promise<SqlResult> {
  const answer = await recorded;
  const [row] = answer.rows;
  const [name] = values;
  if (values.length !== 1 || row?.['name'] === undefined) return answer;
  return { ...answer, rows: [{ ...row, name }] };
}
