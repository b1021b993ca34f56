import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { before, test } from 'node:test';
import { complaintOf, LINTERS } from '../../package/lint';
import { Project } from '../../package/project';
import { ALL_PEERS } from '../../package/subpaths';
import { pack, type Tarball } from '../../package/tarball';

let tarball: Tarball;
before(async () => void (tarball = await pack()));

void test('the package holds the library, its examples and the documents for readers, and nothing else', (t) => {
  const others = tarball.paths.filter(
    (path) =>
      !/^dist\/.+\.(js|d\.ts)$/.test(path) &&
      !/^examples\/.+\.ts$/.test(path) &&
      !/^examples\/[^/]+\.(mjs|md)$/.test(path) &&
      !/^examples\/[a-z-]+\/[^/]+\.(js|mjs|json|md|yml)$/.test(path) &&
      !/^examples\/java-and-node\/java\/.+\.(java|xml)$/.test(path) &&
      !/^examples\/[a-z-]+\/prisma\/.+\.(prisma|sql|toml)$/.test(path) &&
      !/^docs\/[^/]+\.md$/.test(path) &&
      !/^docs\/(images|reports)\/[^/]+\.(svg|png)$/.test(path) &&
      !/^docs\/monitoring\/[^/]+\.(json|yml)$/.test(path),
  );
  const pages = ['CHANGELOG.md', 'LICENSE', 'README.md', 'ormconfig.ts'];
  const licences = 'dist/dashboard/LICENSES.txt';
  assert.deepEqual(others.sort(), [...pages, licences, 'package.json'].sort());
  assert.deepEqual(
    tarball.paths.filter((path) => /\.(test|spec|types)\./.test(path)),
    [],
  );
  t.diagnostic(
    `${tarball.paths.length} files, ${kilobytes(tarball.size)} packed, ${kilobytes(tarball.unpackedSize)} unpacked`,
  );
});

void test('every relative link of a page leads to a file in the package', () => {
  const broken: string[] = [];
  for (const page of tarball.paths.filter((path) => path.endsWith('.md'))) {
    for (const [, link = ''] of readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      const target = posix.join(dirname(page), link);
      const isThere = tarball.paths.some((path) => path === target || path.startsWith(`${target}/`));
      if (!/^\w+:/.test(link) && !isThere) broken.push(`${page}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
});

void test('every file that package.json points to is in the package', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
  const { bin, main, types, exports, typesVersions } = manifest;
  const targets = stringsIn([bin, main, types, exports, typesVersions]).map((path) => posix.normalize(path));
  assert.ok(targets.length > 10);
  for (const target of targets) assert.ok(tarball.paths.includes(target), target);
});

void test('every package that a subpath needs is an optional peer', () => {
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    peerDependencies: Record<string, string>;
    peerDependenciesMeta: Record<string, { optional: boolean }>;
  };
  for (const peer of ALL_PEERS) assert.ok(Object.hasOwn(peerDependencies, peer), peer);
  for (const peer of Object.keys(peerDependencies)) assert.ok(peerDependenciesMeta[peer]?.optional, peer);
});

void test('no file of the library names a source map, because the package has none', async () => {
  using project = new Project();
  await project.install(tarball.file);
  const files = tarball.paths.filter((name) => /^dist\/.+\.(js|d\.ts)$/.test(name));
  const naming = files.filter((path) =>
    /^\/\/# sourceMappingURL=/m.test(
      readFileSync(join(project.folder, 'node_modules/cronlatch', path), 'utf8'),
    ),
  );
  assert.ok(files.length > 200);
  assert.deepEqual(naming, []);
});

for (const linter of LINTERS.keys()) {
  void test(`${linter} has no complaints about the package`, async () => {
    assert.equal(await complaintOf(linter, tarball.file), undefined);
  });
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`;
}
