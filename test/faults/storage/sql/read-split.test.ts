import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTables } from 'cronlatch/pg';
import { Child } from '../../../processes/child';
import type { Night, NightMessage, NightOrders } from '../../../processes/fixtures/night-worker';
import { codesOf, examined } from '../../../support/benches/doctor';
import { pgpoolServer } from '../../../support/servers/own';
import { withStarted } from '../../../support/servers/test-on';

const JOBS = 50;
const NIGHTS: readonly Night[] = [1, 2, 3, 4].flatMap((night) => [
  { night: 2 * night - 1, oncePerNight: false },
  { night: 2 * night, oncePerNight: true },
]);

void test('behind a proxy that sends plain SELECTs to a replica, each job runs once a night, and the guard warns', (t) =>
  withStarted(t, 'pgpool', pgpoolServer, async (server) => {
    const instances: Child<NightMessage>[] = [];
    try {
      const url = `${server.url}/postgres`;
      await createTables(`${server.primary}/postgres`);
      for (const step of [3, 7, 11]) {
        const orders: NightOrders = { url, jobs: JOBS, step };
        instances.push(new Child('night-worker.js', { argument: orders }));
      }
      for (const { warnings } of await Promise.all(instances.map((each) => each.received('ready')))) {
        assert.equal(warnings.length, 1);
        assert.match(warnings[0] ?? '', /A proxy sends plain SELECTs to a replica/);
      }
      const { findings } = await examined({ type: 'postgres', url });
      assert.deepEqual(codesOf(findings), ['warning read-split']);

      const wrong: string[] = [];
      for (const order of NIGHTS) {
        const matching = ({ night }: { readonly night: number }) => night === order.night;
        for (const instance of instances) instance.send(order);
        const requested = await Promise.all(
          instances.map((each) => each.received('requested', { matching })),
        );
        const running = requested.flatMap((each) => each.running);
        const never = JOBS - new Set(running).size;
        const twice = running.length - new Set(running).size;
        if (never + twice > 0) wrong.push(`night ${order.night}: ${never} never, ${twice} twice`);
        for (const instance of instances) instance.send({});
        await Promise.all(instances.map((each) => each.received('ended', { matching })));
      }
      assert.deepEqual(wrong, []);
    } finally {
      await Promise.all(instances.map((each) => each.end()));
    }
  }));
