import type { DataSourceOptions } from 'typeorm';

/**
 * What an application must add to its pool to survive a PostgreSQL server that goes down while it accepts a
 * connection: an immediate error listener on the new client.
 */
export function survivor(options: DataSourceOptions): DataSourceOptions {
  if (options.type !== 'postgres') return options;
  const onConnect = (client: { on(event: 'error', listener: () => void): unknown }): void =>
    void client.on('error', () => {});
  return { ...options, extra: { onConnect } };
}
