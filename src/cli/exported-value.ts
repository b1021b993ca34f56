import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DataSource } from 'typeorm';
import { CronlatchError } from '../core';
import { UsageError } from './failure';

/**
 * Finds the only value of a kind that a file exports, in the same way as TypeORM's own command line.
 *
 * @param wanted the option that named the file, and the kind, both for messages. `orElse` counts if no value is `is`.
 * @throws UsageError if there is no such file, or no or more than one such value
 */
export async function exportedValue<T>(
  file: string,
  wanted: { option: string; kind: string; is: (value: unknown) => value is T; orElse?: typeof wanted.is },
): Promise<T> {
  const { option, kind, is, orElse = is } = wanted;
  // Without repeating the address, because it can contain a password.
  if (file.includes('://')) throw new UsageError(`${option} needs a JavaScript file, but got an address.`);
  const path = resolve(file);
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}. Check the path after ${option}.`);
  const values = await load(path, (value) => is(value) || orElse(value));
  const found = values.some(is) ? values.filter(is) : values.filter(orElse);
  const [value] = found;
  if (value !== undefined && found.length === 1) return value;
  throw new UsageError(
    `${path} exports ${found.length === 0 ? `no ${kind}` : `${found.length} ${kind}s`}. Export exactly one.`,
  );
}

/** By TypeORM's own mark, because the application can have another copy of TypeORM. */
export function isDataSource(value: unknown): value is DataSource {
  const mark = (value as Readonly<Record<string, unknown>> | null | undefined)?.['@instanceof'];
  return mark === Symbol.for('DataSource');
}

async function load(path: string, is: (value: unknown) => boolean): Promise<readonly unknown[]> {
  try {
    return await valuesIn((await import(pathToFileURL(path).href)) as object, is);
  } catch (error) {
    // A guard that could not be created, for example because its database cannot be reached.
    if (error instanceof CronlatchError) throw error;
    // The first line has the reason. The others list the files that required it.
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    if (isForLoader(path, error))
      throw new UsageError(`Could not load ${path}: ${reason}. Compile it, and pass the JavaScript file.`);
    throw new Error(`Could not load ${path}: ${reason}`, { cause: error });
  }
}

/** Whether Node.js cannot read the language of the file. Newer versions read some TypeScript, but no decorators. */
function isForLoader(path: string, error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { readonly code?: unknown };
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return true;
  return /\.[cm]?tsx?$/.test(path) && (error instanceof SyntaxError || String(code).includes('TYPESCRIPT'));
}

/** A CommonJS module is also the default export of its namespace. An export can be a promise. */
async function valuesIn(module: object, is: (value: unknown) => boolean): Promise<readonly unknown[]> {
  const common: unknown = 'default' in module ? await module.default : undefined;
  const isNamespace = typeof common === 'object' && common !== null && !is(common);
  const exported: unknown[] = [module, isNamespace ? common : {}].flatMap(
    (names) => Object.values(names) as unknown[],
  );
  return [...new Set(await Promise.all(exported))];
}
