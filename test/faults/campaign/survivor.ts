import type { DataSourceOptions } from 'typeorm';

/**
 * What an application needs of its own pool to outlive a PostgreSQL server that goes down as it accepts a connection:
 * somebody who listens to the new client at once.
 */
export function survivor(options: DataSourceOptions): DataSourceOptions {
  if (options.type !== 'postgres') return options;
  const onConnect = (client: { on(event: 'error', listener: () => void): unknown }): void =>
    void client.on('error', () => {});
  return { ...options, extra: { onConnect } };
}
