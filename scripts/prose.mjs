/**
 * Checks the sentences and terms of all Markdown with textlint. textlint's word count ends a sentence at each line break,
 * so this joins the lines of each paragraph first, and reports the beginning of a sentence instead of its line.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { format } from 'prettier';
import { createLinter, loadTextlintrc } from 'textlint';

const linter = createLinter({ descriptor: await loadTextlintrc(), ignoreFilePath: '.textlintignore' });
const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
let found = 0;
for (const file of execFileSync('git', list, { encoding: 'utf8' }).trim().split('\n')) {
  if ((await linter.scanFilePath(file)).status !== 'ok') continue;
  const oneLine = { parser: 'markdown', proseWrap: 'never', embeddedLanguageFormatting: 'off' };
  const text = await format(readFileSync(file, 'utf8'), oneLine);
  const { messages } = await linter.lintText(text, file);
  for (const { message, range } of messages) {
    const [beginning] = text.slice(range[0], range[0] + 60).split('\n');
    console.error(`${file}: "${beginning}…": ${message}`);
    found += 1;
  }
}
process.exitCode = found === 0 ? 0 : 1;
