import assert from 'node:assert/strict';
import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { guardBench } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';

const NAMES = ['lock:acquired', 'run:started', 'run:completed', 'lock:released'] as const;

void test("every event is published on the channel 'cronlatch:' plus its name, with the same payload as for listeners", async () => {
  const published: [string | symbol, unknown][] = [];
  const listener: ChannelListener = (event, channel) => void published.push([channel, event]);
  for (const name of NAMES) subscribe(`cronlatch:${name}`, listener);
  const { guard, emitted } = guardBench();
  await guard.run(JOB, () => {});
  for (const name of NAMES) unsubscribe(`cronlatch:${name}`, listener);
  assert.deepEqual(
    published,
    emitted.map(([name, event]) => [`cronlatch:${name}`, event]),
  );
  assert.equal(published.length, NAMES.length);
});
