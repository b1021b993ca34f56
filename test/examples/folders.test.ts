import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const INDEX = readFileSync('examples/README.md', 'utf8');
const FOLDERS = readdirSync('examples').filter((name) => existsSync(join('examples', name, 'package.json')));

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

for (const name of FOLDERS)
  void test(`the folder ${name} can be copied: it has packages, a database and a README`, () => {
    const folder = join('examples', name);
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    for (const heading of ['Run', 'Prints', 'Files'])
      assert.match(readme, new RegExp(`^## ${heading}$`, 'm'));
    assert.ok(INDEX.includes(`](${name}/README.md)`), 'the index has it');
    assert.equal(manifestOf(folder).dependencies['cronlatch'], `^${manifestOf('.').version}`);
    const compose = readFileSync(join(folder, 'compose.yml'), 'utf8');
    assert.match(compose, /^ {2}database:$/m);
    for (const [, file = ''] of compose.matchAll(/\.\/node_modules\/cronlatch\/([^:]+):/g))
      assert.ok(existsSync(file), `the package has ${file}`);
  });

void test('the folders are found', () => assert.ok(FOLDERS.length >= 6));
