/** npm run package: the packed library in every kind of project, with every version of Node and of the compiler. */
import { commandLineFailure } from '../command-line';
import { PROJECT_KINDS, type Failure, type ProjectKind, type Tool } from '../kinds';
import { complaintOf, LINTERS } from '../lint';
import { Places } from '../places';
import { SUBPATHS, type Subpath } from '../subpaths';
import { pack } from '../tarball';
import { tableOf, type Cell, type Row } from './table';
import { bringTools } from './tools';

interface Trial {
  readonly kind: ProjectKind;
  readonly tool: Tool;
  readonly failures: ReadonlyMap<Subpath, Failure>;
}

const began = performance.now();
const complaints: string[] = [];

function tell(what: string): void {
  console.error(`[${String(Math.round((performance.now() - began) / 1000)).padStart(3)} s] ${what}`);
}

async function main(): Promise<void> {
  const tarball = await pack();
  tell(
    `packed: ${tarball.paths.length} files, ${tarball.size} bytes (${tarball.unpackedSize} when they are unpacked)`,
  );
  for (const linter of LINTERS.keys()) {
    const complaint = await complaintOf(linter, tarball.file);
    tell(`${linter}: ${complaint === undefined ? 'no complaints' : 'complains'}`);
    if (complaint !== undefined) complaints.push(`${linter}:\n${complaint}`);
  }
  tell('versions of Node and TypeScript (the first time they are installed)');
  const tools = await bringTools();
  const nodes = tools.filter(({ family }) => family === 'Node').map(({ path }) => path);
  const failure = await commandLineFailure(tarball, nodes);
  tell(`npx cronlatch: ${failure === undefined ? 'no complaints' : 'fails'}`);
  if (failure !== undefined) complaints.push(`npx cronlatch:\n${failure}`);
  using places = new Places();
  process.once('SIGINT', () => {
    places[Symbol.dispose](); // Hundreds of megabytes.
    process.exit(130);
  });
  await places.install(tarball.file, tell);
  conclude(tools, await tryAll(tools, places));
}

async function tryAll(tools: readonly Tool[], places: Places): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (const kind of PROJECT_KINDS) {
    for (const tool of tools.filter((each) => isFor(kind, each))) {
      const failures = await kind.failures(tool, places);
      for (const [subpath, failure] of failures)
        complaints.push(`${kind.name}, ${subpath.specifier}, ${tool.name}:\n${failure}`);
      tell(`${kind.name}, ${tool.name}: ${SUBPATHS.length - failures.size} of ${SUBPATHS.length} subpaths`);
      trials.push({ kind, tool, failures });
    }
  }
  return trials;
}

function isFor(kind: ProjectKind, tool: Tool): boolean {
  return kind.family === tool.family && !kind.without?.includes(tool.name);
}

/** The table, the failures and the result. */
function conclude(tools: readonly Tool[], trials: readonly Trial[]): void {
  const cell = (kind: ProjectKind, subpath: Subpath, tool: Tool): Cell => {
    const trial = trials.find((each) => each.kind === kind && each.tool === tool);
    return trial === undefined ? '–' : trial.failures.has(subpath) ? '✗' : '✓';
  };
  const rows: Row[] = PROJECT_KINDS.flatMap((kind) =>
    SUBPATHS.map((subpath) => ({
      kind: kind.name,
      subpath: subpath.specifier,
      cells: tools.map((tool) => cell(kind, subpath, tool)),
    })),
  );
  console.log(
    tableOf(
      tools.map(({ name }) => name),
      rows,
    ),
  );
  for (const complaint of complaints) console.log(`\n${complaint.trim()}`);
  const tried = rows.flatMap(({ cells }) => cells).filter((each) => each !== '–').length;
  console.log(
    complaints.length === 0
      ? `\npackage: good. ${tried} trials, publint and attw: none failed.`
      : `\npackage: NOT good. ${complaints.length} complaints, ${tried} trials.`,
  );
  process.exitCode = complaints.length === 0 && tried > 0 ? 0 : 1;
}

void main();
