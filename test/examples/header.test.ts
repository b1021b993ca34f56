import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXAMPLES, headerOf, patternOf } from './header';

const INDEX = readFileSync('examples/README.md', 'utf8');
const TESTS = ['test/examples', 'test/faults/examples'].flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8')),
);

for (const [name, path] of EXAMPLES) {
  void test(`${name} begins with what it shows, how to run it and what it prints`, () => {
    const { lesson, command, printed } = headerOf(name);
    assert.match(lesson, /^[A-Z].+\.$/);
    const run = path.endsWith('.mjs') ? `node ${path}` : `npm run example ${name}`;
    assert.equal(command.replace(/^DATABASE_URL=\S+ /, ''), run);
    assert.ok(printed.length > 0 && printed.every((lines) => lines.length > 0));
    assert.ok(INDEX.includes(`\`${run}\``), 'the index has the same command');
    assert.ok(
      TESTS.some((text) => text.includes(`'${name}'`)),
      'a test runs it',
    );
  });
}

void test('the examples are found, and the script that runs them exists', () => {
  assert.ok(EXAMPLES.size >= 12);
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  assert.equal(scripts['example'], 'node scripts/example.mjs');
  assert.ok(existsSync('scripts/example.mjs'));
});

void test('an ellipsis in a header stands for any text, and alone for any lines', () => {
  const pattern = patternOf(['a … (b).', '…', 'end']);
  assert.match('a 1 (b).\nend\n', pattern);
  assert.match('a 1 (b).\nx\ny\nend\n', pattern);
  assert.doesNotMatch('a 1 (b)!\nend\n', pattern);
  assert.doesNotMatch('a 1 (b).\nend\nmore\n', pattern);
  assert.match('a 1 (b).\nend\nmore\n', patternOf(['a … (b).', '…', 'end'], '[^]*'));
});
