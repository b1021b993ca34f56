import type { DataSource } from 'typeorm';

/** Runs the statements on this many connections of the pool, which then keeps the sessions in that state. */
export async function leaveSessions(
  application: DataSource,
  statements: readonly string[],
  sessions = 2,
): Promise<void> {
  const runners = Array.from({ length: sessions }, () => application.createQueryRunner());
  try {
    await Promise.all(runners.map((runner) => runner.connect()));
    for (const runner of runners) for (const statement of statements) await runner.query(statement);
  } finally {
    await Promise.all(runners.map((runner) => runner.release()));
  }
}
