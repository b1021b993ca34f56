/** Ways to spoil a good name, each of which the name of a lock must not have. */
export const SPOILS: Readonly<Record<string, (name: string) => string>> = {
  empty: () => '',
  'longer than any store takes': (name) => name.padEnd(256, 'x'),
  'a leading space': (name) => ` ${name}`,
  'a trailing space': (name) => `${name} `,
  NUL: (name) => `${name}\0x`,
  'a line feed': (name) => `${name}\nx`,
  'half a surrogate pair': (name) => `${name}\ud83d`,
  'the other half of a surrogate pair': (name) => `\udc4d${name}`,
  'a letter in two parts': (name) => `${name.slice(0, -1)}e\u0301`,
};

/** What Unicode calls white space, and the byte order mark. None may stand at an end of a name. */
export const WHITE_SPACE = Array.from(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
);

/** All of them: C0, DEL and C1. */
export const CONTROL_CHARACTERS = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => character < ' ' || character > '~',
);

export const NOT_NORMAL = 'e\u0301 \u212b \u2126 \u212a \u1100\u1161 か\u3099 a\u0307\u0323'.split(' ');

export const HALF_PAIRS = '\ud800 \udbff \udc00 \udfff job\ud83d \udc4djob \udc4d\ud83d a\ud83db'.split(' ');
