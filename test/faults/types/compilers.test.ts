import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Project } from '../../package/project';
import { installed } from '../../support/processes/installed';
import { diagnosticsOf, refusalsOf } from '../../types/diagnostics';
import { compile, MODES, sourcesFor, typesProject, type Mode } from '../../types/types-project';

const FOLDER = 'test/types/compilers';
const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

let compilers: string;
let project: Project;

before(async () => {
  compilers = await installed(FOLDER);
  project = await typesProject();
});

after(() => project[Symbol.dispose]());

for (const [compiler, wanted] of Object.entries(dependencies)) {
  const version = wanted.replace('npm:typescript@', 'TypeScript ');
  for (const mode of MODES) {
    void test(`${version} with ${mode} decorators accepts valid code, and explains why it refuses the rest`, async () => {
      const { stdout, stderr } = await compile(project, join(compilers, compiler), mode);
      assert.equal(stderr, '');
      const messages = messagesOf(stdout);
      const wrong = wrongPlaces(mode);
      assert.deepEqual([...messages.keys()].sort(), [...wrong.keys()].sort(), stdout);
      for (const [place, words] of wrong)
        assert.ok(messages.get(place)?.includes(words), messages.get(place));
    });
  }
}

/** Where something is refused, and the texts that the message must contain. */
function wrongPlaces(mode: Mode): Map<string, string> {
  const places = sourcesFor(mode).flatMap(([name, source]) =>
    refusalsOf(source).map(({ line, words }) => [`wrong/${name}:${line}`, words] as const),
  );
  assert.ok(places.length > 20);
  return new Map(places);
}

/** All errors of the compiler at each place. Those in declarations of other packages are not ours. */
function messagesOf(stdout: string): Map<string, string> {
  const messages = new Map<string, string>();
  for (const { file, line, text } of diagnosticsOf(stdout)) {
    if (/node_modules\/(?!cronlatch\/)/.test(file)) continue;
    const place = `${file}:${line}`;
    messages.set(place, `${messages.get(place) ?? ''}${text}\n`);
  }
  return messages;
}
