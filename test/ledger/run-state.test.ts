import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  mayChange,
  STATE_CHANGES,
  type Actor,
  type RunState,
  type StateBefore,
} from '#cronlatch/ledger/run-state';

const STATES: readonly RunState[] = ['pending', 'running', 'completed', 'failed', 'interrupted', 'skipped'];
const ACTORS: readonly Actor[] = [
  'claim',
  'claim with onCrash retry',
  'claim with onCrash hold',
  'catch-up',
  'calendar',
  'deadline',
  'holder',
  'rerun',
  'rerun with force',
  'resolve',
  'skip',
];

/** Who may make which changes of state; written a second time, by actor. */
const MAY: Record<Actor, string> = {
  claim: `absent>running pending>running failed>running pending>failed failed>failed pending>skipped`,
  'claim with onCrash retry': `running>running running>failed`,
  'claim with onCrash hold': `running>interrupted`,
  'catch-up': `absent>pending absent>skipped`,
  calendar: `absent>skipped`,
  deadline: `absent>skipped`,
  holder: `running>completed running>failed running>skipped running>pending interrupted>completed`,
  rerun: `failed>pending interrupted>pending skipped>pending`,
  'rerun with force': `failed>pending interrupted>pending skipped>pending completed>pending running>pending`,
  resolve: `interrupted>completed interrupted>failed interrupted>pending`,
  skip: `absent>skipped pending>skipped failed>skipped interrupted>skipped`,
};

for (const actor of ACTORS) {
  void test(`the ${actor} can make the changes in the table, and every other is refused`, () => {
    const made: string[] = [];
    for (const from of ['absent', ...STATES] as StateBefore[])
      for (const to of STATES) if (mayChange(from, to, actor)) made.push(`${from}>${to}`);
    assert.deepEqual(made.sort(), MAY[actor].split(' ').sort());
  });
}

void test('only force changes a completed run (L3)', () => {
  const leaving = ACTORS.filter((actor) => STATES.some((to) => mayChange('completed', to, actor)));
  assert.deepEqual(leaving, ['rerun with force']);
});

void test('every state can be entered and left, and no change deletes a row', () => {
  for (const state of STATES) {
    assert.ok(
      STATE_CHANGES.some(({ to }) => to.includes(state)),
      state,
    );
    assert.ok(
      STATE_CHANGES.some(({ from }) => from.includes(state)),
      state,
    );
  }
});

void test('an actor has each pair of states once', () => {
  const seen = new Set<string>();
  for (const { from, to, by } of STATE_CHANGES)
    for (const one of from)
      for (const other of to)
        for (const actor of by) {
          const change = [one, other, actor].join('|');
          assert.ok(!seen.has(change), change);
          seen.add(change);
        }
});
