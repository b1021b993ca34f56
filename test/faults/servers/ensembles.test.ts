import assert from 'node:assert/strict';
import { eventually } from '../../support/clocks/eventually';
import type { EnsembleName } from '../../support/servers/own';
import { testOnEnsemble } from '../../support/servers/test-on';

const NAMES: readonly EnsembleName[] = ['zookeeper', 'etcd', 'sentinel'];

for (const name of NAMES) {
  testOnEnsemble(
    name,
    'if its leader is killed, another one leads, and it comes back as a follower',
    async (ensemble) => {
      const first = await ensemble.leader();
      await first.kill();
      const second = await ensemble.leader();
      assert.notEqual(second.url, first.url);
      await first.restart();
      assert.equal((await ensemble.leader()).url, second.url);
    },
  );

  testOnEnsemble(name, 'if its leader is paused, another one leads', async (ensemble) => {
    const first = await ensemble.leader();
    assert.ok(first.pid !== undefined);
    process.kill(first.pid, 'SIGSTOP');
    // A thread that has not stopped yet can still answer as the leader.
    await eventually(async () => (await ensemble.leader()).url !== first.url, 'another server leads');
    const second = await ensemble.leader();
    process.kill(first.pid, 'SIGCONT');
    assert.equal((await ensemble.leader()).url, second.url);
  });
}
