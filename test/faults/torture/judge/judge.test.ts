import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judge } from './judge';
import type { Run, Strike } from './story';

const NONE = { duplicates: 0, overlaps: 0, lost: 0 };
const SLOTS = [10_000, 20_000];

/**
 * `10 a 11-15`: for the fire at 10 s, process a ran from 11 s until 15 s; with `!` it crashed then, with `?`
 * it gave up.
 */
function runs(...texts: string[]): Run[] {
  return texts.map((text) => {
    const [slot, instance = '', times = ''] = text.split(' ');
    const [from, until = ''] = times.replace(/[!?]$/, '').split('-');
    const ending = times.endsWith('!') ? 'crashed' : times.endsWith('?') ? 'failed' : 'completed';
    return {
      slotMs: Number(slot) * 1000,
      instance,
      beganMs: Number(from) * 1000,
      endedMs: until === '' ? Infinity : Number(until) * 1000,
      ending: until === '' ? 'going-on' : ending,
    };
  });
}

function faults(...texts: string[]) {
  const { duplicates, overlaps, lost } = judge({ slots: SLOTS, runs: runs(...texts), strikes: [] });
  return { duplicates, overlaps, lost };
}

void suite('the judge of a torture', () => {
  void test('one run per fire is right, in any process and however late', () => {
    const story = { slots: SLOTS, runs: runs('10 a 11-15', '20 b 45-50'), strikes: [] };
    assert.deepEqual(judge(story), { fires: 2, runs: 2, hits: 0, ...NONE });
    assert.deepEqual(faults('20 b 20-21', '10 a 21-25'), NONE);
  });

  void test('a second run for a fire is a duplicate, however long after the first and in any process', () => {
    assert.deepEqual(faults('10 a 11-12', '20 a 20-21', '10 b 40-41'), { ...NONE, duplicates: 1 });
    assert.deepEqual(faults('10 a 11-12', '20 a 20-21', '10 a 40-41'), { ...NONE, duplicates: 1 });
    assert.deepEqual(faults('10 a 11-12', '10 b 12-13', '20 a 20-21', '10 a 40-41').duplicates, 2);
  });

  void test('a second run is a duplicate also if it did not complete', () => {
    assert.deepEqual(faults('10 a 11-12', '20 a 20-21', '10 b 40-41!'), { ...NONE, duplicates: 1 });
    assert.deepEqual(faults('10 a 11-12', '20 a 20-21', '10 b 40-41?'), { ...NONE, duplicates: 1 });
    assert.deepEqual(faults('10 a 11-12', '20 a 20-21', '10 b 40-'), { ...NONE, duplicates: 1 });
  });

  void test('a run that crashed or gave up may be followed by another one, once', () => {
    assert.deepEqual(faults('10 a 11-12!', '10 b 15-16', '20 b 20-21'), NONE);
    assert.deepEqual(faults('10 a 11-12?', '10 b 15-16', '20 b 20-21'), NONE);
    assert.deepEqual(faults('10 a 11-12!', '10 b 15-16', '10 c 17-18', '20 b 20-21').duplicates, 1);
  });

  void test('the following run must not start before the crash', () => {
    const expected = { duplicates: 1, overlaps: 1, lost: 0 };
    assert.deepEqual(faults('10 a 11-14!', '10 b 13-16', '20 b 20-21'), expected);
    assert.deepEqual(faults('10 a 11-14?', '10 b 13-16', '20 b 20-21'), expected);
  });

  void test('two runs for different fires at the same time overlap', () => {
    assert.deepEqual(faults('10 a 10-21', '20 b 20-25'), { ...NONE, overlaps: 1 });
    assert.deepEqual(faults('10 a 10-20', '20 b 20-25'), NONE);
  });

  void test('a long run overlaps each run that starts during it, in any order of the records', () => {
    const texts = ['20 b 14-15', '30 b 17-18', '10 a 10-40'];
    assert.equal(faults(...texts).overlaps, 2);
    assert.equal(faults(...texts.reverse()).overlaps, 2);
  });

  void test('an unfinished run overlaps every later run, and completes nothing', () => {
    assert.deepEqual(faults('10 a 10-', '20 b 20-25'), { ...NONE, overlaps: 1, lost: 1 });
  });

  void test('a fire without a run, or whose runs all failed, is lost', () => {
    assert.deepEqual(faults('20 b 20-21'), { ...NONE, lost: 1 });
    assert.deepEqual(faults('10 a 10-11!', '20 b 20-21'), { ...NONE, lost: 1 });
    assert.deepEqual(faults('10 a 10-11?', '20 b 20-21'), { ...NONE, lost: 1 });
    assert.deepEqual(faults(), { ...NONE, lost: 2 });
  });

  void test('a run for another time does not make up for a fire', () => {
    assert.deepEqual(faults('10 a 10-11', '21 b 21-22'), { ...NONE, lost: 1 });
  });
});

void suite('a strike hits', () => {
  const isHit = (kind: Strike['kind'], ...texts: string[]): boolean => {
    const strike: Strike = { kind, slotMs: 10_000, instance: 'a', atMs: 12_000 };
    return judge({ slots: SLOTS, runs: runs(...texts), strikes: [strike] }).hits === 1;
  };

  void test('a kill hits if the process dies in its run for the fire', () => {
    assert.ok(isHit('kill', '10 a 11-13!'));
    assert.ok(!isHit('kill', '10 a 11-11.9', '20 a 20-25!', '10 b 11-13!'));
  });

  void test('a stop hits if the process does not run the fire', () => {
    assert.ok(isHit('stop', '10 b 13-14', '20 a 20-21'));
    assert.ok(!isHit('stop', '10 a 11-13'));
  });

  void test('a manual call hits if the other process runs the fire at that time', () => {
    assert.ok(isHit('execute', '10 b 11-13', '10 a 12.1-14'));
    assert.ok(!isHit('execute', '10 b 10-11', '10 a 11-13', '20 b 11-13'));
  });
});
