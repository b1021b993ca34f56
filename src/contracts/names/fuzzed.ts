import type { Random } from '../random';
import { SPOILS } from './wrong';

/** Characters that stand next to one another without becoming one, and that no name must not have. */
const ALPHABETS = [
  [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'],
  [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
  [...'éèêëÉßẞæøåıİſµμςσΣжЖяا日本語가나ｊｏｂ'],
  [
    '\u200b',
    '\u200d',
    '\u2060',
    '\u202e',
    '\u00ad',
    '\ufe0f',
    '\u{1f469}',
    '\u{1f4bb}',
    '𝛼',
    '𐐀',
    '\u{10ffff}',
  ],
];
const SPACES = [' ', '\u00a0', '\u2003', '\u3000'];

/** A name of 1 to 64 characters. */
export function randomName(random: Random): string {
  const length = random.integer(1, 64);
  const characters = Array.from({ length }, (_, i) => {
    const within = i > 0 && i < length - 1;
    return random.pick(within && random.integer(1, 10) === 1 ? SPACES : random.pick(ALPHABETS));
  });
  return characters.join('');
}

/** A name that has something which none may have. */
export function randomWrongName(random: Random): string {
  return random.pick(Object.values(SPOILS))(randomName(random));
}
