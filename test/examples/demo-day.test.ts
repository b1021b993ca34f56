import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Run, RunEvent } from 'cronlatch/provider';
import { Day } from '../../examples/demo/day';
import { DayBoard } from '../../examples/demo/day-board';
import { countDayFigures, type DayFigures } from '../../examples/demo/day-figures';
import { complaintsAboutDay, dayLine } from '../../examples/demo/day-verdict';
import type { DayEvent, LineOf } from '../../examples/demo/witness';

const DAY = new Day(new Date('2026-11-21T23:59:59.999Z'));

/** `w1 asked done`: worker w1 called the job of the day, which then completed. */
function lines(...texts: string[]): LineOf<DayEvent>[] {
  return texts.map((text) => {
    const [worker = '', event = '', reason] = text.split(' ');
    const at = DAY.at.getTime();
    return { worker, event: `day-${event}` as DayEvent, scheduledAt: at, at, reason };
  });
}

const STORY = lines(
  ...['w1 enter', 'w2 asked locked', 'w1 asked failed', 'w2 enter', 'w3 asked locked', 'w2 killed'],
  ...['w3 enter', 'w3 asked done', 'w1 asked already-completed'],
);

/** The rows of a day that its third attempt completed. */
const RECORD = {
  date: DAY.date,
  runs: [{ state: 'completed', attempt: 3 } as Run],
  history: [{ kind: 'failed' } as RunEvent, { kind: 'lost' } as RunEvent],
  effects: 1,
};

void suite('the job of the day in the demo', () => {
  void test('its day is that of the given instant, not the current one', () => {
    assert.equal(DAY.date, '2026-11-21');
  });

  void test('the board lists every attempt', () => {
    const board = new DayBoard(DAY.date);
    const texts = [board.text];
    for (const line of STORY) board.apply(line);
    texts.push(board.text);
    assert.deepEqual(texts, [
      'day 2026-11-21: called 0 times; not started',
      'day 2026-11-21: called 5 times; 1 failed (w1), 2 killed (w2), 3 completed (w3)',
    ]);
    assert.ok(texts.every((text) => text.length < 80));
  });

  void test('who is to be killed is inside the second attempt', () => {
    const board = new DayBoard(DAY.date);
    const victims = STORY.map((line) => {
      board.apply(line);
      return board.victim;
    });
    const none = undefined;
    assert.deepEqual(victims, [none, none, none, 'w2', 'w2', none, none, none, none]);
  });

  void test("the figures are the ledger's and those of the effects", () => {
    const figures = countDayFigures(STORY, RECORD);
    assert.equal(
      dayLine(figures),
      'The job of 2026-11-21: called 5 times, attempted 3 times, completed once, in the database once.',
    );
    assert.deepEqual([figures.asked, figures.entered], [5, 3]);
    assert.deepEqual(complaintsAboutDay({ ...figures, asked: 400 }), []);
  });

  void test('every figure that is not what it should be is complained about', () => {
    const good: DayFigures = { ...countDayFigures(STORY, RECORD), asked: 400 };
    const wrong: Partial<DayFigures>[] = [
      { completed: 0 },
      { effects: 2 },
      { effects: 0 },
      { attempts: 4, entered: 4 },
      { attempts: 2, entered: 2 },
      { entered: 4 },
      { ends: ['lost', 'failed'] },
      { ends: [] },
      { asked: 50 },
    ];
    for (const figure of wrong) {
      assert.equal(complaintsAboutDay({ ...good, ...figure }).length, 1, JSON.stringify(figure));
    }
  });
});
