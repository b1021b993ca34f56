import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended } from '../../support/processes/command';
import type { Project } from '../project';
import { SUBPATHS, type Subpath } from '../subpaths';
import { commonModuleOf, moduleOf, useName } from '../use';
import type { Failure, ProjectKind, Tool } from './kind';

const SCRIPTS = 'test/package/scripts';

/** Modules as Node loads them; each subpath in its own process, with only the packages that it needs. */
export const NODE_KINDS: readonly ProjectKind[] = [
  nodeKind('import', async (tool, project, subpath) => {
    const script = `${useName(subpath)}.mjs`;
    project.write(script, `${moduleOf(subpath)}\nawait use();\n`);
    return endedWell(await project.run(tool.path, script));
  }),
  nodeKind('require', async (tool, project, subpath) => {
    const script = `${useName(subpath)}.cjs`;
    project.write(script, `${commonModuleOf(subpath)}\nvoid use();\n`);
    return endedWell(await project.run(tool.path, script));
  }),
  nodeKind('both in one process', async (tool, project, subpath) => {
    copyScript('one-instance.mjs', project);
    return endedWell(await project.run(tool.path, 'one-instance.mjs', subpath.specifier));
  }),
  {
    name: 'no peer installed',
    family: 'Node',
    failures: (tool, { bare }) => failuresOf((subpath) => loadWithoutPeers(tool, bare, subpath)),
  },
];

type Try = (tool: Tool, project: Project, subpath: Subpath) => Promise<Failure | undefined>;

function nodeKind(name: string, tryIt: Try): ProjectKind {
  return {
    name,
    family: 'Node',
    failures: (tool, places) => failuresOf((subpath) => tryIt(tool, places.alone(subpath), subpath)),
  };
}

async function failuresOf(
  tryIt: (subpath: Subpath) => Promise<Failure | undefined>,
): Promise<Map<Subpath, Failure>> {
  const failures = new Map<Subpath, Failure>();
  for (const subpath of SUBPATHS) {
    const failure = await tryIt(subpath);
    if (failure !== undefined) failures.set(subpath, failure);
  }
  return failures;
}

function endedWell({ status, stdout, stderr }: Ended): Failure | undefined {
  return status === 0 ? undefined : `${stdout}${stderr}`;
}

/** The subpath loads, or its error names the package that must be installed. */
async function loadWithoutPeers(tool: Tool, bare: Project, subpath: Subpath): Promise<Failure | undefined> {
  const { specifier, peers } = subpath;
  const expected = peers.map(
    (peer) => `CronlatchError: ${specifier} needs the package '${peer}': npm install ${peer}`,
  );
  if (peers.length === 0) expected.push('loaded');
  for (const script of ['load.cjs', 'load.mjs']) {
    copyScript(script, bare);
    const { stdout, stderr } = await bare.run(tool.path, script, specifier);
    if (!expected.includes(stdout.trim())) return `${script}: ${stdout}${stderr}`;
  }
  return undefined;
}

function copyScript(name: string, project: Project): void {
  project.write(name, readFileSync(join(SCRIPTS, name), 'utf8'));
}
