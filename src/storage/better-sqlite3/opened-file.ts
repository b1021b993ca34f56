import { statSync } from 'node:fs';
import { SqlExecutionError } from '../sql/connections/sql-executor';

/** A connection keeps the file that it has opened, even if another one takes its place at the path. */
export class OpenedFile {
  #opened: string | undefined;

  constructor(private readonly path: string) {}

  /** Call it when a connection has opened the file. The first call counts. */
  remember(): void {
    this.#opened ??= this.#identity();
  }

  /** Why the opened file can no longer be used. `undefined` if it is still at its path, or if that is unknown. */
  findLoss(): SqlExecutionError | undefined {
    if (this.#opened === undefined || this.#identity() === this.#opened) return undefined;
    return new SqlExecutionError(
      `the file ${this.path} was replaced or removed while this process had it open. Restart the process, and replace a database only while no process has it open`,
      'not-sent',
    );
  }

  /** `undefined` without a file, or without inodes, as on some file systems of Windows. */
  #identity(): string | undefined {
    const { dev, ino } = statSync(this.path, { bigint: true, throwIfNoEntry: false }) ?? {};
    return ino ? `${dev}:${ino}` : undefined;
  }
}
