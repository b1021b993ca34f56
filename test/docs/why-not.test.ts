import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerOf, patternOf } from '../examples/header';
import { codeBlocksOf } from '../support/page';

// test/faults/examples/why-not.test.ts runs the examples on the servers.
for (const name of ['why-not-for-update', 'why-not-one-transaction'])
  void test(`docs/${name}.md shows the command and two outputs of its example`, () => {
    const { command, printed } = headerOf(name);
    const blocks = codeBlocksOf(`docs/${name}.md`);
    assert.deepEqual(
      blocks.filter(({ language }) => language === 'sh').map(({ text }) => text.trim()),
      [command],
    );
    const outputs = blocks.filter(({ language }) => language === 'text');
    assert.equal(outputs.length, 2);
    for (const { text } of outputs) assert.match(text, patternOf(printed[0] ?? []));
  });
