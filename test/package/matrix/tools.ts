import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed } from '../../support/processes/installed';
import type { Tool } from '../kinds';

/** The versions of Node and of the compiler that the library is tried with. Installs those that are missing. */
export async function bringTools(): Promise<Tool[]> {
  return [
    ...(await toolsIn('test/package/nodes', 'Node', 'bin/node')),
    ...(await toolsIn('test/types/compilers', 'TypeScript', 'bin/tsc')),
  ];
}

async function toolsIn(folder: string, family: Tool['family'], path: string): Promise<Tool[]> {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const home = await installed(folder);
  return Object.keys(dependencies).map((name) => ({
    name: name.replace('node-', 'Node ').replace('typescript-', 'TS '),
    family,
    path: join(home, name, path),
  }));
}
