import { DataSource, type DataSourceOptions } from 'typeorm';

/** A DataSource of our own, opened at its first use, and again after an attempt that failed. */
export class OwnDataSource {
  #opening: Promise<DataSource> | undefined;

  constructor(private readonly options: () => DataSourceOptions) {}

  get(): Promise<DataSource> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening === undefined) return;
    const dataSource = await opening.catch(() => undefined); // What never opened needs no closing.
    await dataSource?.destroy();
  }

  async #open(): Promise<DataSource> {
    try {
      return await new DataSource(this.options()).initialize();
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
