import type { Server } from './bench-database';

/** Settings of a server by name, as the server reports them. */
export type ServerSettings = Readonly<Record<string, string>>;

/** A commit of this server may be lost in a crash, so its speed cannot be compared with that of others. */
class NotDurableError extends Error {
  override readonly name = 'NotDurableError';
}

/**
 * @param wanted the settings with which commits are durable
 * @param found the settings of the server
 * @returns the settings, for the report
 */
export function checkDurable({ name }: Server, wanted: ServerSettings, found: ServerSettings): string {
  const settings = Object.keys(wanted).map((setting) => `${setting} = ${found[setting]}`);
  if (Object.entries(wanted).every(([setting, value]) => found[setting] === value))
    return settings.join(', ');
  throw new NotDurableError(`the commits of this ${name} are not durable: ${settings.join(', ')}`);
}
