import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/** Every page of the project. */
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...['docs', 'bench', 'examples'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
];

/** The project files that a page links to, or shows, each with the heading that the link leads to. */
function linksOf(page: string): { readonly file: string; readonly anchor: string | undefined }[] {
  const links = readFileSync(page, 'utf8').matchAll(/\]\((?!http)([^)#]*)(?:#([^)]+))?\)/g);
  return [...links].map(([, path = '', anchor]) => ({
    file: path === '' ? page : join(dirname(page), path),
    anchor,
  }));
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const headings = readFileSync(page, 'utf8')
    .replace(/^```[^]*?^```$/gm, '')
    .matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

for (const page of PAGES)
  void test(`every file and heading that ${page} links to exists`, () => {
    for (const { file, anchor } of linksOf(page)) {
      assert.ok(existsSync(file), file);
      if (anchor !== undefined && file.endsWith('.md'))
        assert.ok(anchorsOf(file).includes(anchor), `${file}#${anchor}`);
    }
  });

void test('links and headings are found on the pages', () => {
  assert.ok(linksOf('README.md').length >= 7);
  assert.ok(anchorsOf('CONTRIBUTING.md').length >= 2);
});
