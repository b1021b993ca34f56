import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Clock } from '../../core';
import { withinLimit } from '../../core/clock';
import { Sockets } from './sockets';

/** A DataSource of our own, opened at its first use, and again after an attempt that failed. */
export class OwnDataSource {
  #opening: Promise<DataSource> | undefined;
  #sockets = new Sockets();

  constructor(
    private readonly options: (sockets: Sockets) => DataSourceOptions,
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  get(): Promise<DataSource> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening === undefined) return;
    const dataSource = await opening.catch(() => undefined); // What never opened needs no closing.
    // A server that went silent never says goodbye, and a connection that breaks meanwhile is closed, too.
    const goodbye = dataSource?.destroy().catch(() => undefined);
    await withinLimit(this.clock, Promise.resolve(goodbye), this.limitMs);
    this.#sockets.end();
  }

  async #open(): Promise<DataSource> {
    const sockets = (this.#sockets = new Sockets());
    const initializing = new DataSource(this.options(sockets)).initialize();
    try {
      const dataSource = await withinLimit(this.clock, initializing, this.limitMs);
      if (dataSource !== 'time-out') return dataSource;
      throw new Error(`the database did not answer within ${this.limitMs} ms`);
    } catch (error) {
      this.#opening = undefined;
      // One that comes late after all is nobody's.
      void initializing.then((late) => late.destroy()).catch(() => undefined);
      sockets.end();
      throw error;
    }
  }
}
