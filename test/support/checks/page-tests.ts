import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codeBlocksOf } from './page';

/** @param notShown files of the folder that the files on the page need */
export function testCodeOn(page: string, folder: string, notShown: readonly string[] = []): void {
  void test('every piece of code on the page is a file that is run, and each appears once', () => {
    const code = codeBlocksOf(page).filter(({ language }) => ['ts', 'js'].includes(language));
    for (const { path = 'a block without a file', text } of code)
      assert.equal(text, readFileSync(join(folder, path), 'utf8'), path);
    const files = readdirSync(folder).filter((file) => !notShown.includes(file));
    assert.deepEqual(code.map(({ path }) => path).sort(), files.sort());
  });
}
