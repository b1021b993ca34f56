import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Colour = readonly number[];

const STYLE = readFileSync('src/dashboard/browser/style.css', 'utf8');
const PAIR = /--(\w+): light-dark\(#(\w{6}), #(\w{6})\);/g;
/** How much of its tone is in the background of a state. */
const TINT = Number(/var\(--tone\) (\d+)%, var\(--card\)/.exec(STYLE)?.[1]) / 100;
const STATES = ['ok', 'failed', 'missed', 'run', 'hold', 'off'];

/** Each text, or each sign, on each of its backgrounds, with the least contrast of WCAG 2.2. */
const RULES: readonly (readonly [texts: readonly string[], backs: readonly string[], least: number])[] = [
  [['text', 'mute'], ['back', 'card', 'sub'], 4.5],
  [STATES, ['card', 'tint'], 4.5],
  [['card'], STATES, 4.5],
  [['focus'], ['back', 'card'], 3],
];

function coloursOf(scheme: 'light' | 'dark'): ReadonlyMap<string, Colour> {
  const pairs = [...STYLE.matchAll(PAIR)].map(([, name = '', light = '', dark = '']) => {
    const code = scheme === 'light' ? light : dark;
    return [name, [0, 2, 4].map((at) => Number.parseInt(code.slice(at, at + 2), 16))] as const;
  });
  return new Map(pairs);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(...colours: readonly [Colour, Colour]): number {
  const [darker = 0, lighter = 0] = colours.map(luminance).sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

for (const scheme of ['light', 'dark'] as const)
  void test(`each text and each sign of the ${scheme} dashboard stands out from its background`, () => {
    const colours = coloursOf(scheme);
    const of = (name: string): Colour => colours.get(name) ?? assert.fail(`Colour --${name} is missing.`);
    const backOf = (name: string, text: string): Colour =>
      name === 'tint'
        ? of(text).map((part, index) => part * TINT + (of('card')[index] ?? NaN) * (1 - TINT))
        : of(name);
    const all = RULES.flatMap(([texts, backs, least]) =>
      texts.flatMap((text) => backs.map((back) => ({ text, back, least }))),
    );
    const pale = all
      .map((each) => ({ ...each, is: contrast(of(each.text), backOf(each.back, each.text)) }))
      .filter(({ is, least }) => !(is >= least));
    assert.deepEqual(pale, []);
  });
