import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codeBlocksOf } from '../support/checks/page';
import { ROOT, SOURCES } from './application';

/** A fixture that the page mentions, but does not show. */
const NOT_SHOWN = ['node-test/own-store.ts'];

const shown = codeBlocksOf(join(ROOT, 'docs/testing-your-jobs.md'));

void test('every block of code on the page names the file of which it is a copy', () => {
  for (const { path, text } of shown) {
    assert.ok(path !== undefined, `This block names no file:\n${text}`);
    assert.equal(text, readFileSync(join(SOURCES, path), 'utf8'), path);
  }
});

void test('every file of the examples is on the page, once', () => {
  const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(SOURCES.length + 1));
  assert.deepEqual([...shown.map(({ path }) => path), ...NOT_SHOWN].sort(), paths.sort());
});
