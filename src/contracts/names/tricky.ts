/** Names that a collation, a fold or a normalisation could take for one another. Each is a lock of its own. */
export const TRICKY_NAMES = [
  ...'job Job JOB jOB jób jòb jöb jo\u0308b\u0323 job. job_ job% j_b j%b j-b job1 job01'
    .normalize()
    .split(' '),
  ...['a', 'aa', 'ab', 'a b', 'a  b', 'a\u00a0b', 'a\u2003b', 'a\u3000b'],
  ...['a'.repeat(63), 'a'.repeat(64), `${'a'.repeat(63)}b`],
  // Zero width, joiners, soft hyphen, marks of direction: nothing to see, and not nothing.
  ...'\u200b \u200c \u200d \u2060 \u00ad \u200e \u200f \u202e \u061c \u180e'
    .split(' ')
    .map((mark) => `a${mark}b`),
  ...['\u200bab', 'ab\u200b', '\u202eab'],
  ...'e é è É E straße strasse STRASSE straẞe fin ﬁn æ ae ø o ÿ ŷ y'.split(' '),
  ...'i I ı İ ĳ ij k ĸ c с σ ς Σ µ μ ǆ ǅ Ǆ b b\u0301 b\u0300 か が カ ｶ 가 日 曰 Ｊｏｂ ｊｏｂ 𝛼 α 𐐀 𐐨'.split(
    ' ',
  ),
  // The same pictures with another tone, joined or not, as text or in colour.
  ...'\u{1f44d} \u{1f44d}\u{1f3fd} \u{1f469} \u{1f469}\u{1f4bb} \u{1f469}\u200d\u{1f4bb} ❤ ❤\ufe0f ❤\ufe0e'.split(
    ' ',
  ),
  ...'1 01 1.0 +1 １ ① ² 2 - – — − \' ’ " / // \\ … ... \ufffd \uffff \u{10ffff}'.split(' '),
];
