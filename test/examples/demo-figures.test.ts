import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { countFigures } from '../../examples/demo/figures';
import { complaintsAbout, lastLine } from '../../examples/demo/verdict';
import { formatLine, parseLine, type WitnessEvent, type WitnessLine } from '../../examples/demo/witness';

const START = Date.parse('2026-11-21T03:00:00.000Z');
const at = (second: number): number => START + second * 1000;

/** `w1 enter 2 10`: at 10 ms after the second 2, worker w1 entered the run of that second. */
function lines(...texts: string[]): WitnessLine[] {
  return texts.map((text) => {
    const [worker = '', event = '', second, late] = text.split(' ');
    const scheduledAt = at(Number(second));
    return { worker, event: event as WitnessEvent, scheduledAt, at: scheduledAt + Number(late ?? 5) };
  });
}

const firedByBoth = (...seconds: number[]): WitnessLine[] =>
  lines(...seconds.flatMap((second) => [`w1 fired ${second}`, `w2 fired ${second}`]));

const count = (witness: WitnessLine[], killedLeaseUntil?: number) =>
  countFigures(witness, { first: at(1), last: at(9), killedLeaseUntil });

void suite('the figures of the demo', () => {
  void test('a tick that several workers fired and one ran is one tick and one run', () => {
    const figures = count([
      ...firedByBoth(1, 2),
      ...lines('w1 enter 1', 'w1 exit 1 200', 'w2 enter 2', 'w2 exit 2 200'),
    ]);
    assert.equal(
      lastLine(figures),
      '2 ticks: 2 ran, 0 were skipped during the lease of the killed process. 0 runs repeated a tick, 0 overlapped.',
    );
    assert.deepEqual(figures.lost, []);
  });

  void test('a second run of the same instant is a duplicate, even after the first has ended', () => {
    const figures = count([
      ...firedByBoth(1),
      ...lines('w1 enter 1 10', 'w1 exit 1 100', 'w2 enter 1 600', 'w2 exit 1 700'),
    ]);
    assert.deepEqual([figures.runs, figures.duplicates, figures.overlaps], [1, 1, 0]);
  });

  void test('runs of different instants that have a moment in common overlap', () => {
    const figures = count([
      ...firedByBoth(1, 2),
      ...lines('w1 enter 1', 'w1 exit 1 1200', 'w2 enter 2 100', 'w2 exit 2 300'),
    ]);
    assert.deepEqual([figures.runs, figures.duplicates, figures.overlaps], [2, 0, 1]);
  });

  void test('a killed run ends at its kill, and the ticks inside its lease need no run', () => {
    const witness = [
      ...firedByBoth(1, 2, 3, 4),
      ...lines('w1 enter 1 10', 'w1 killed 1 60', 'w2 enter 4 20', 'w2 exit 4 200'),
    ];
    const figures = count(witness, at(3) + 10);
    assert.deepEqual([figures.ticks, figures.runs, figures.skippedAfterKill], [4, 2, 2]);
    assert.deepEqual([figures.killedInsideRun, figures.unfinished, figures.lost], [true, 0, []]);
  });

  void test('a tick without a run outside the killed lease is lost', () => {
    const witness = [...firedByBoth(1, 2, 3, 4), ...lines('w1 enter 1 10', 'w1 killed 1 60')];
    const figures = count(witness, at(3) + 10);
    assert.deepEqual([figures.skippedAfterKill, figures.lost], [2, [at(4)]]);
    assert.ok(
      complaintsAbout(figures).some((complaint) => complaint.startsWith('No worker ran the ticks at')),
    );
  });

  void test('a tick that no worker fired is none', () => {
    const figures = count([
      ...firedByBoth(1, 3),
      ...lines('w1 missed 2', 'w1 enter 1', 'w1 exit 1 200', 'w1 enter 3', 'w1 exit 3 200'),
    ]);
    assert.deepEqual([figures.ticks, figures.runs, figures.lost], [2, 2, []]);
  });

  void test('instants before the first and after the last do not count', () => {
    const figures = count([
      ...firedByBoth(0, 1, 10),
      ...lines('w1 enter 0', 'w2 enter 0', 'w1 enter 1', 'w1 exit 1 200', 'w2 enter 10'),
    ]);
    assert.deepEqual([figures.ticks, figures.runs, figures.duplicates, figures.unfinished], [1, 1, 0, 0]);
  });

  void test('a kill that came after the exit was not inside the run', () => {
    const figures = count(
      [...firedByBoth(1), ...lines('w1 enter 1', 'w1 exit 1 200', 'w1 killed 1 210')],
      at(4),
    );
    assert.equal(figures.killedInsideRun, false);
    assert.ok(complaintsAbout(figures).includes('No worker was killed inside a run.'));
  });

  void test('a run that never ended is reported, and overlaps every later run', () => {
    const figures = count([...firedByBoth(1, 5), ...lines('w1 enter 1', 'w2 enter 5', 'w2 exit 5 200')]);
    assert.deepEqual([figures.unfinished, figures.overlaps], [1, 1]);
  });

  void test('fifteen ticks, a kill inside a run and nothing else leave no complaint', () => {
    const figures = { ticks: 15, runs: 13, skippedAfterKill: 2, duplicates: 0, overlaps: 0 };
    const rest = { lost: [], killedInsideRun: true, unfinished: 0, latestMs: 900 };
    assert.deepEqual(complaintsAbout({ ...figures, ...rest }), []);
    assert.equal(complaintsAbout({ ...figures, ...rest, duplicates: 1 }).length, 2); // Lateness explains it.
    assert.equal(complaintsAbout({ ...figures, ...rest, latestMs: 9, ticks: 11 }).length, 1);
  });
});

void test('a line of the witness file can be read back, and half a line is refused', () => {
  const line: WitnessLine = {
    event: 'skipped',
    worker: 'w3',
    scheduledAt: at(1),
    at: at(1) + 4,
    reason: 'running-here',
  };
  assert.deepEqual(parseLine(formatLine(line)), line);
  assert.equal(
    formatLine({ ...line, event: 'enter', reason: undefined }),
    `enter w3 2026-11-21T03:00:01.000Z ${at(1) + 4}`,
  );
  const asked: WitnessLine = { ...line, event: 'day-asked', reason: 'already-completed' };
  assert.deepEqual(parseLine(formatLine(asked)), asked);
  for (const text of [
    '',
    'enter',
    'enter w1 2026-11-21T03:00:01.000Z',
    'left w1 2026-11-21T03:00:01.000Z 5',
    'enter w1 today 5',
  ]) {
    assert.throws(() => parseLine(text), /not a line of the witness file/);
  }
});
