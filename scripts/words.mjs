/**
 * Finds words that this project replaces with the terms of docs/glossary.md: in comments, strings (and so in error
 * messages and names of tests) and Markdown. node scripts/words.mjs [path…]: exits with 1 if it finds any.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const PATHS = [
  'src',
  'test',
  'examples',
  'bench',
  'scripts',
  'docs',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
];
const TYPES = /\.(?:[cm]?[jt]s|md)$/;

/** A pattern, and what to write instead. */
const WORDS = [
  [/\b(?:nobody|somebody|anybody|everybody)\b/, 'who exactly: no instance, another process, the operator'],
  [/\bwhoever\b/, 'who exactly: the first instance, the caller, the holder'],
  [/\bwhatever\b/, 'name it, or: any, every, regardless of'],
  [/\ba person\b/, 'the operator'],
  [/\bclaimants?\b/, 'holder, owner'],
  [/\b(?:cannot|can't) be meant\b/, 'invalid'],
  [/\b(?:was|is|were|are) meant\b/, 'scheduled, intended'],
  [/\bno option\b/, 'unknown option'],
  [/(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|later\b|earlier\b|more than\b)/, 'is not a …'],
  [/\b(?:owed|owes|owing)\b/, 'overdue'],
  [/\bgiven up\b/, 'failed permanently; abandoned'],
  [/\bvanish(?:ed|es|ing)?\b/, 'crashed; disappeared'],
  [/\b(?:brought|brings?|bringing) back\b/, 'retry, start again; restore'],
  [/\b(?:asked|asks?|asking) again\b/, 'retry'],
  [/\btried again\b/, 'retried'],
  [/\b(?:begins?|began|begun|starts?|started) anew\b/, 'retry, restart'],
  [/\bmade again\b/, 'rerun, recreate'],
  [/\bmend(?:s|ed|ing)?\b/, 'fix, repair'],
  [/\b(?:tells?|told|telling)\b(?! apart)/, 'report, return, show, pass; distinguish'],
  [/\b(?:says?|said|saying)\b/, 'hold, return, set, report, mean'],
  [/\b(?:hears?|heard) of\b/, 'notice, receive'],
  [/\b(?:became|becomes?|become) of\b/, 'outcome, state; happens to'],
  [/\b(?:is|are|was|were|been) over\b/, 'has ended; expired'],
  [/\bended by itself\b/, 'expired'],
  [/\b(?:is|was|are|were|being) away\b/, 'is down, cannot be reached'],
  [/\bclocks? that cannot be set\b/, 'monotonic clock'],
  [/\bdoors?\b/, 'integration'],
  [/\btime-outs?\b/, 'timeout'],
  [/\bfail-overs?\b/, 'failover'],
];

/** Files, or texts on a line, in which a word is allowed. */
const EXCEPTIONS = [
  { file: /^scripts\/words\.mjs$/, reason: 'This list needs the words.' },
  { file: /^docs\/reports\//, reason: 'Reports of past test campaigns are not edited.' },
];

const paths = process.argv.slice(2);
const files = (paths.length === 0 ? PATHS : paths).flatMap(filesOf).filter((file) => TYPES.test(file));
const patterns = WORDS.map(([{ source }, better]) => [
  new RegExp(source.replaceAll(' ', '\\s+'), 'gi'),
  better,
]);
let found = 0;
for (const file of files) {
  const source = readFileSync(file, 'utf8');
  const prose = file.endsWith('.md') ? ofMarkdown(source) : ofCode(file, source);
  for (const [pattern, better] of patterns) {
    for (const { 0: word, index } of prose.matchAll(pattern)) {
      const line = source.slice(0, index).split('\n').length;
      if (isAllowed(file, source.split('\n')[line - 1])) continue;
      console.log(`${file}:${line}: ${word.trim().replace(/\s+/g, ' ')} → ${better}`);
      found += 1;
    }
  }
}
if (found > 0) console.log(`${found} words to replace`);
process.exitCode = found === 0 ? 0 : 1;

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true });
  return names.filter((name) => !name.includes('node_modules')).map((name) => join(path, name));
}

function isAllowed(file, line) {
  return EXCEPTIONS.some((each) => each.file.test(file) && (each.text?.test(line) ?? true));
}

/** The text with spaces in place of code, so that positions stay. */
function ofMarkdown(source) {
  return withoutSpans(source.replace(/^```[^]*?^```$/gm, blank));
}

/** The comments and strings of a program, with spaces in place of everything else. */
function ofCode(file, source) {
  const ranges = new Map();
  const add = ({ pos, end }) => ranges.set(pos, end);
  const visit = (node) => {
    for (const comment of ts.getLeadingCommentRanges(source, node.pos) ?? []) add(comment);
    for (const comment of ts.getTrailingCommentRanges(source, node.end) ?? []) add(comment);
    // Without its quotes: those of a template would look like a code span.
    if (isText(node)) add({ pos: node.getStart() + 1, end: node.end - 1 });
    node.getChildren().forEach(visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  let prose = '';
  for (const [pos, end] of [...ranges].sort(([a], [b]) => a - b)) {
    prose += blank(source.slice(prose.length, pos)) + source.slice(Math.max(pos, prose.length), end);
  }
  // The markers of comments would divide a phrase that continues on the next line.
  return withoutSpans(prose).replace(/^\s*(?:\/\/|\*)/gm, blank);
}

/** A string of a single word is a value, such as the name of an event, and not prose. */
function isText(node) {
  const isString =
    ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  return isString && /\s/.test(node.text);
}

function withoutSpans(text) {
  return text.replace(/`[^`\n]*`/g, blank);
}

function blank(text) {
  return text.replace(/[^\n]/g, ' ');
}
