import { TRICKY_NAMES as OF_THE_CONTRACT } from '#cronlatch/contracts/names';
import { sampleSize } from '../../../../support/checks/sample-size';

const OF_TABLES = [
  ...['job', 'Job', 'JOB', 'jöb', 'jób'],
  ...['straße', 'strasse', 'STRASSE', 'STRAẞE', 'ß', 'ss', 'ẞ'],
  ...['e', 'E', 'é', 'É', 'è', 'ê'],
  ...['i', 'I', 'ı', 'İ', 'î'],
  ...['a', 'A', 'ä', 'Ä', 'å', 'Å', 'Ā', 'ª', 'Ａ', 'а', '𝐚', '𝔸'],
  ...['ae', 'æ', 'Æ', 'oe', 'œ', 'o', 'ø', 'º', 'o̸'],
  ...['l', 'L', 'ł', 'Ł', 'n', 'ñ', 'ŉ', 'fi', 'ﬁ'],
  ...['1', '１', '①', '2', '²', '½', '1⁄2'],
  ...['σ', 'ς', 'Σ', 'か', 'が', 'カ', 'ｶ', '株', '㈱'],
  ...[
    'ab',
    'a b',
    'a\u00a0b',
    'a\u200bb',
    'a\u200db',
    'a\u00adb',
    'a-b',
    'a‐b',
    'a_b',
    'a%b',
    'a?b',
    ':ab',
    '$1',
  ],
  ...[`it's`, `it''s`, 'it’s', 'a"b', 'a`b', 'a\\b', `a\\'b`, `'; --`, 'NULL', '0', '00', '0.0', '??', '?'],
  ...['😀', '😁', '👨‍👩‍👧', '👨👩👧', '🇨🇿', '\u{10ffff}'],
];

const MORE = [
  ...['đ', 'd', 'Đ', 'ð', 'Ð', 'þ', 'th', 'ŋ', 'ng', 'č', 'ç', 'C', 'š', 'ſ', 'Ś', 'ž', 'z', 'Ƶ'],
  ...['ё', 'е', 'й', 'и', 'ا', 'أ', 'آ', 'א', 'ﬡ', 'は', 'ば', 'ぱ', 'ハ', 'ゕ', 'か゚', '가', '각', '々'],
];

/**
 * Names that some collation treats as equal, that some character set cannot hold, or that need quoting. No
 * two are equal. All of them are more than 200.
 */
export const TRICKY_NAMES: readonly string[] = [...new Set([...OF_TABLES, ...MORE, ...OF_THE_CONTRACT])];

/** The names that each `npm test` tries: each is requested beside each other one. */
export const TRIED_NAMES = TRICKY_NAMES.slice(
  0,
  sampleSize({ fast: OF_TABLES.length, full: TRICKY_NAMES.length }),
);
