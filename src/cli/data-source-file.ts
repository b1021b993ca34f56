import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DataSource } from 'typeorm';
import { UsageError } from './usage-error';

/** Finds the DataSource that a file exports, in the same way as TypeORM's own command line. */
export async function loadDataSource(file: string): Promise<DataSource> {
  const path = resolve(file);
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}. Check the path after -d.`);
  const found = await dataSourcesIn(await load(path));
  const [dataSource] = found;
  if (dataSource !== undefined && found.length === 1) return dataSource;
  throw new UsageError(
    `${path} exports ${found.length === 0 ? 'no DataSource' : `${found.length} DataSources`}. Export exactly one.`,
  );
}

async function load(path: string): Promise<object> {
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (error) {
    // The first line has the reason. The others list the files that required it.
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_UNKNOWN_FILE_EXTENSION')
      throw new UsageError(`Could not load ${path}: ${reason}. Compile it, and pass the JavaScript file.`);
    throw new Error(`Could not load ${path}: ${reason}`);
  }
}

/** A CommonJS module is also the default export of its namespace. An export can be a promise. */
async function dataSourcesIn(module: object): Promise<DataSource[]> {
  const common: unknown = 'default' in module ? await module.default : undefined;
  const isNamespace = typeof common === 'object' && common !== null && !isDataSource(common);
  const exported: unknown[] = [module, isNamespace ? common : {}].flatMap(
    (names) => Object.values(names) as unknown[],
  );
  return [...new Set(await Promise.all(exported))].filter(isDataSource);
}

/** By TypeORM's own mark, because the application can have another copy of TypeORM. */
function isDataSource(value: unknown): value is DataSource {
  const mark = (value as Readonly<Record<string, unknown>> | null | undefined)?.['@instanceof'];
  return mark === Symbol.for('DataSource');
}
