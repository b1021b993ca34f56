import type { Random } from './random';

const ALIKE = [
  'job Job JOB jOB jób jòb jöb jo\u0308b\u0323 job. job_ job% j_b j%b j-b job1 job01'.normalize(),
  'e é è É E straße strasse STRASSE straẞe fin ﬁn æ ae ø o ÿ ŷ y',
  'i I ı İ ĳ ij k ĸ c с σ ς Σ µ μ ǆ ǅ Ǆ b b\u0301 b\u0300 か が カ ｶ 가 日 曰 Ｊｏｂ ｊｏｂ 𝛼 α 𐐀 𐐨',
  // The same emoji with another skin tone, joined or not, as text or in colour.
  '\u{1f44d} \u{1f44d}\u{1f3fd} \u{1f469} \u{1f469}\u{1f4bb} \u{1f469}\u200d\u{1f4bb} ❤ ❤\ufe0f ❤\ufe0e',
  '1 01 1.0 +1 １ ① ² 2 - – — − \' ’ " / // \\ … ... \ufffd \uffff \u{10ffff}',
].flatMap((line) => line.split(' '));

const SPACED = 'a|aa|ab|a b|a  b|a\u00a0b|a\u2003b|a\u3000b|\u200bab|ab\u200b|\u202eab'.split('|');

/** Zero width characters, joiners, soft hyphens and direction marks are invisible, but they count. */
const INVISIBLE = '\u200b \u200c \u200d \u2060 \u00ad \u200e \u200f \u202e \u061c \u180e'.split(' ');

const LONG = ['a'.repeat(63), 'a'.repeat(64), `${'a'.repeat(63)}b`];

/** Names that a collation, case folding or normalisation could treat as equal. Each is a separate lock. */
export const TRICKY_NAMES = [...ALIKE, ...SPACED, ...LONG, ...INVISIBLE.map((mark) => `a${mark}b`)];

/** Texts that break out of a statement, a pattern, a template, a path or a protocol if they are not bound. */
const ESCAPES = [
  `' OR '1'='1 ¦ ' OR 1=1 -- x ¦ '; DROP TABLE shedlock; -- ¦ ' UNION SELECT 1,2,3,4,5 -- x ¦ ' AND SLEEP(9) #`,
  `'||(SELECT 1)||' ¦ " OR ""=" ¦ \` OR 1=1 -- x ¦ ') OR ('1'='1 ¦ \\' OR 1=1 -- x ¦ '; UPDATE shedlock SET name='`,
  `' ¦ '' ¦ " ¦ "" ¦ \` ¦ \\ ¦ \\\\ ¦ \\' ¦ ; ¦ -- ¦ -- x ¦ # ¦ /* ¦ */ ¦ /**/ ¦ /*!50000 OR 1=1 */ ¦ 0x6a6f62 ¦ CHAR(106)`,
  `% ¦ %% ¦ _ ¦ __ ¦ [a-z] ¦ * ¦ ? ¦ ?? ¦ :name ¦ :owner ¦ @owner ¦ $1 ¦ $$ ¦ $tag$ ¦ NULL ¦ DEFAULT`,
  `{"$gt":""} ¦ {"$where":"sleep(9)"} ¦ ';return true;var a=' ¦ [$ne]=x ¦ *)(uid=* ¦ (&(uid=*)) ¦ ' or name()='x`,
  `return redis.call('FLUSHALL') ¦ KEYS[1] ¦ FLUSHALL ¦ *1$8FLUSHALL ¦ ]]-- ¦ {job} ¦ {}`,
  `$(reboot) ¦ \`reboot\` ¦ | cat /etc/passwd ¦ && true ¦ > /dev/null ¦ ../../etc/passwd ¦ ..\\..\\boot.ini ¦ file:///etc ¦ ~`,
  `%s%s%n ¦ %d ¦ %1$s ¦ {0} ¦ \${7*7} ¦ {{7*7}} ¦ #{7*7} ¦ <%= 7*7 %> ¦ \${jndi:ldap://x} ¦ =1+1 ¦ @SUM(1)`,
  `<script>alert(1)</script> ¦ ]]> ¦ <!-- ¦ &quot; ¦ &#39; ¦ %00 ¦ %27 ¦ %2527 ¦ \\u0027 ¦ \\x27 ¦ \\0 ¦ \\n`,
  `’ OR ’1’=’1 ¦ ＇ OR 1=1 ¦ ʼ OR 1=1 ¦ ‘ ¦ “ ¦ « ¦ ′ ¦ ％ ¦ ； ¦ ＂`,
  `__proto__ ¦ constructor ¦ toString ¦ hasOwnProperty ¦ prototype ¦ undefined ¦ null ¦ true ¦ NaN ¦ 0 ¦ -1 ¦ 1e9`,
].flatMap((line) => line.split(' ¦ '));

/** More than 300 names that a store must treat like any other name. */
export const INJECTED_NAMES = [
  ...new Set(ESCAPES.flatMap((escape) => [escape, `job${escape}`, `${escape}job`])),
];

/** Unicode's white space, and the byte order mark. A name must not begin or end with such a character. */
const WHITE_SPACE = Array.from(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
);

/** All control characters: C0, DEL and C1. */
const CONTROL_CHARACTERS = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => character < ' ' || character > '~',
);

const NOT_NORMAL = 'e\u0301 \u212b \u2126 \u212a \u1100\u1161 か\u3099 a\u0307\u0323'.split(' ');

/** Names that no store accepts: of a wrong length, or with characters that a store can change or lose. */
export const WRONG_NAMES = [
  ...[0, 256, 1000, 1_000_000].map((length) => 'x'.repeat(length)),
  '\u{1f512}'.repeat(256),
  ...WHITE_SPACE.flatMap((space) => [`${space}job`, `job${space}`, space, space.repeat(2)]),
  ...CONTROL_CHARACTERS.flatMap((character) => [`jo${character}b`, character]),
  ...NOT_NORMAL.flatMap((part) => [part, `job-${part}-job`]),
  // Half surrogate pairs.
  ...'\ud800 \udbff \udc00 \udfff job\ud83d \udc4djob \udc4d\ud83d a\ud83db'.split(' '),
];

/** Characters that are valid in every name and never combine with their neighbours. */
const ALPHABETS = [
  [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'],
  [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
  [...'éèêëÉßẞæøåıİſµμςσΣжЖяا日本語가나ｊｏｂ'],
  [...'\u200b\u200d\u2060\u202e\u00ad\ufe0f\u{1f469}\u{1f4bb}𝛼𐐀\u{10ffff}'],
];
const SPACES = [' ', '\u00a0', '\u2003', '\u3000'];

export function randomName(random: Random): string {
  const length = random.integer(1, 64);
  const characters = Array.from({ length }, (_, i) => {
    const within = i > 0 && i < length - 1;
    return random.pick(within && random.integer(1, 10) === 1 ? SPACES : random.pick(ALPHABETS));
  });
  return characters.join('');
}
