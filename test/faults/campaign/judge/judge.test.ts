import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Keeper } from '../options';
import type { Evidence, FinalRun } from './evidence';
import { Story } from './story';
import { verdictOn } from './verdict';

const complaintsOf = (evidence: Evidence): readonly string[] => verdictOn(evidence, []).complaints;

/** Worker 1 is granted the lock at 1 s for 2 s, and worker 2 at 5 s. */
const asItShouldBe = (): Story =>
  new Story()
    .grant(1, 1000)
    .release(1, 1500, 1_000_000, true)
    .grant(2, 5000)
    .release(2, 5500, 5_000_000, true);

function condemned(what: string, evidence: () => Evidence, complaint: RegExp): void {
  void test(what, () => assert.match(complaintsOf(evidence()).join('\n'), complaint));
}

function acquitted(what: string, evidence: () => Evidence): void {
  void test(what, () => assert.deepEqual(complaintsOf(evidence()), []));
}

void suite('the judge of a campaign accepts and rejects locks', () => {
  acquitted('one lease after the other is accepted', () => asItShouldBe().evidence());
  condemned(
    'a grant while another lease is live',
    () => new Story().grant(1, 1000).grant(2, 2500).evidence(),
    /P1: lease 2500000 .* while lease 1000000/,
  );
  condemned(
    'a grant while another lease was extended',
    () =>
      new Story()
        .grant(1, 1000)
        .note(1, 2001, { k: 'extended', name: 'job', token: 1_000_000, sentMs: 2000, atMostMs: 2000 })
        .grant(2, 3500)
        .evidence(),
    /P1/,
  );
  acquitted('… is accepted if its row was deleted in between', () =>
    new Story()
      .grant(1, 1000)
      .grant(2, 2500)
      .evidence({ injections: [{ kind: 'lock row deleted', name: 'job', fromMs: 2000, untilMs: 2001 }] }),
  );
  condemned(
    'a grant within lockAtLeastFor',
    () =>
      new Story()
        .grant(1, 1000, { atLeastMs: 1000 })
        .release(1, 1100, 1_000_000, true)
        .grant(2, 1500)
        .evidence(),
    /P5/,
  );
  condemned(
    'a token that was given before',
    () => asItShouldBe().grant(3, 9000, { token: 5_000_000 }).evidence(),
    /P3/,
  );
  condemned(
    'a token that is lower than an earlier one',
    () => asItShouldBe().grant(3, 9000, { token: 4_000_000 }).evidence(),
    /P3: the token of lease 4000000/,
  );
  condemned(
    'a release that is refused while the lease is live',
    () => new Story().grant(1, 1000).release(1, 1500, 1_000_000, false).evidence(),
    /P2: the release/,
  );
  acquitted('a release that is refused after the lease has expired', () =>
    new Story().grant(1, 1000).release(1, 3500, 1_000_000, false).evidence(),
  );
  condemned(
    'a release that is confirmed after another holder had the lock',
    () => new Story().grant(1, 1000).grant(2, 3500).release(1, 4000, 1_000_000, true).evidence(),
    /P6: the release/,
  );
  condemned(
    'an extension that is refused while the lease is live',
    () =>
      new Story()
        .grant(1, 1000)
        .note(1, 1500, { k: 'refused extension', name: 'job', token: 1_000_000, sentMs: 1499 })
        .evidence(),
    /P2: an extension/,
  );
  condemned(
    'an extension that is confirmed after another holder had the lock',
    () =>
      new Story()
        .grant(1, 1000)
        .grant(2, 3500)
        .note(1, 4001, { k: 'extended', name: 'job', token: 1_000_000, sentMs: 4000, atMostMs: 2000 })
        .evidence(),
    /P6: an extension/,
  );
  const held = { atMs: 1300, name: 'job', owner: 'host/7/x', token: 1_000_000 };
  condemned(
    'a row held by an owner whose call was refused',
    () =>
      asItShouldBe()
        .answered(7, 1000, 'held')
        .evidence({ samples: [held] }),
    /P7: 'job' was held by process 7/,
  );
  acquitted('a row held by an owner whose call got an error', () =>
    asItShouldBe()
      .answered(7, 1000, 'failed')
      .evidence({ samples: [held] }),
  );
});

void suite('the judge of a campaign classifies overlaps', () => {
  /** The first still works when its lease expires, and the second starts. */
  const overlap = (ignoresItsSignal = false): Story =>
    new Story()
      .grant(1, 1000)
      .grant(2, 5000)
      .inside(1, 1010, 6000, 1_000_000, ignoresItsSignal)
      .inside(2, 5010, 5500, 5_000_000);

  condemned('without a cause', () => overlap().evidence(), /overlap: worker 2 .* while worker 1/);
  for (const kind of ['SIGSTOP beyond the lease', 'event loop stalled']) {
    void test(`${kind} explains it`, () => {
      const injections = [{ kind, worker: 1, fromMs: 2000, untilMs: 5900 }];
      const { complaints, explained } = verdictOn(overlap().evidence({ injections }), []);
      assert.deepEqual([complaints, explained], [[], { [kind]: 1 }]);
    });
  }
  condemned(
    'by a fault in another process',
    () =>
      overlap().evidence({
        injections: [{ kind: 'SIGSTOP beyond the lease', worker: 3, fromMs: 0, untilMs: 9000 }],
      }),
    /overlap/,
  );
  condemned(
    'by a stop, but shorter than the lease',
    () =>
      new Story()
        .grant(1, 1000)
        .grant(2, 2500)
        .inside(1, 1010, 2900, 1_000_000)
        .inside(2, 2510, 2600, 2_500_000)
        .evidence({
          injections: [{ kind: 'SIGSTOP beyond the lease', worker: 1, fromMs: 1500, untilMs: 2800 }],
        }),
    /overlap/,
  );
  condemned(
    'by a stop, if the other grant was shortly before the release',
    () =>
      new Story()
        .grant(1, 1000)
        .grant(2, 1500)
        .inside(1, 1010, 1510, 1_000_000)
        .inside(2, 1505, 1600, 1_500_000)
        .release(1, 1520, 1_000_000, true)
        .evidence({
          injections: [{ kind: 'SIGSTOP shorter than the lease', worker: 1, fromMs: 1100, untilMs: 1400 }],
        }),
    /overlap/,
  );
  void test('a stop between the grant and the work explains a late start', () => {
    const late = new Story()
      .grant(1, 1000)
      .grant(2, 5000)
      .inside(2, 5010, 5500, 5_000_000)
      .inside(1, 5100, 5200, 1_000_000);
    const stopped = { kind: 'SIGSTOP beyond the lease', fromMs: 1005, untilMs: 5090 };
    const by = (worker: number) => verdictOn(late.evidence({ injections: [{ ...stopped, worker }] }), []);
    assert.deepEqual(by(1).explained, { [stopped.kind]: 1 });
    assert.equal(by(2).unexplained.length, 1);
  });
  acquitted('by a holder that ignores its signal', () => overlap(true).evidence());
  acquitted('by a process that the machine did not run', () =>
    overlap().note(1, 5900, { k: 'stalled', fromMs: 2000 }).evidence(),
  );
});

void suite('the judge of a campaign knows what each store can lose', () => {
  /** The second is granted half a second after the first, which was never released. */
  const taken = (): Story => new Story().grant(1, 1000).grant(2, 1500);
  const failOver = { kind: 'leader killed', fromMs: 1200, untilMs: 4000 };

  void test('a failover of Redis loses a lock, which counts', () => {
    const evidence = taken().evidence({ keeper: 'sentinel', injections: [failOver] });
    const { complaints, cutShort } = verdictOn(evidence, []);
    assert.deepEqual([complaints, cutShort], [[], { 'leader killed (P1)': 1 }]);
  });
  /** On the old primary, the first lock is released as if nothing had happened, soon after the second is granted. */
  const onTwoPrimaries = (injections: Evidence['injections'], keeper: Keeper = 'sentinel'): Evidence =>
    taken()
      .inside(1, 1010, 1515, 1_000_000)
      .inside(2, 1510, 1600, 1_500_000)
      .release(1, 1520, 1_000_000, true)
      .evidence({ keeper, injections });
  void test('a failover of Redis explains an overlap that ends soon', () => {
    const { complaints, explained } = verdictOn(onTwoPrimaries([failOver]), []);
    assert.deepEqual([complaints, explained], [[], { 'leader killed': 1 }]);
  });
  const other = { kind: 'connections cut', worker: 1, fromMs: 1200, untilMs: 4000 };
  condemned('… but nothing else does', () => onTwoPrimaries([other]), /overlap: worker 2/);
  condemned('… nor on a single Redis', () => onTwoPrimaries([failOver], 'redis'), /overlap: worker 2/);
  condemned(
    '… nor if it ended before the first grant',
    () => onTwoPrimaries([{ ...failOver, fromMs: 500, untilMs: 900 }]),
    /overlap: worker 2/,
  );
  condemned(
    'an overlap, and a failover after the second grant',
    () =>
      taken()
        .inside(1, 1010, 1700, 1_000_000)
        .inside(2, 1650, 1750, 1_500_000)
        .evidence({ keeper: 'sentinel', injections: [{ ...failOver, fromMs: 1600 }] }),
    /overlap: worker 2/,
  );
  condemned(
    'an overlap, and a failover long after the first lock was written',
    () =>
      new Story()
        .grant(1, 1000, { atMostMs: 9000 })
        .grant(2, 6000)
        .inside(1, 1010, 6015, 1_000_000)
        .inside(2, 6010, 6100, 6_000_000)
        .release(1, 6020, 1_000_000, true)
        .evidence({ keeper: 'sentinel', injections: [{ ...failOver, fromMs: 5000, untilMs: 7000 }] }),
    /overlap: worker 2/,
  );
  for (const keeper of ['redis', 'etcd', 'zookeeper'] as const)
    condemned(
      `on ${keeper} without a fault of the holder`,
      () => taken().evidence({ keeper, injections: [] }),
      /P1: lease/,
    );
  condemned(
    'a failover, long after the lock was written',
    () =>
      new Story()
        .grant(1, 1000, { atMostMs: 9000 })
        .grant(2, 6000)
        .evidence({ keeper: 'sentinel', injections: [{ ...failOver, fromMs: 5000, untilMs: 7000 }] }),
    /P1: lease/,
  );
  condemned(
    'a failover of etcd',
    () => taken().evidence({ keeper: 'etcd', injections: [failOver] }),
    /P1: lease/,
  );
  acquitted('a session of ZooKeeper that ends with its connection', () =>
    taken().evidence({
      keeper: 'zookeeper',
      injections: [{ kind: 'partition', worker: 1, fromMs: 1100, untilMs: 1450 }],
    }),
  );
  condemned(
    'an overlap on ZooKeeper, whose holder was not stopped',
    () =>
      taken()
        .inside(1, 1010, 1600, 1_000_000)
        .inside(2, 1510, 1600, 1_500_000)
        .evidence({
          keeper: 'zookeeper',
          injections: [{ kind: 'partition', worker: 1, fromMs: 1100, untilMs: 1450 }],
        }),
    /overlap: worker 2/,
  );
  const cut = { kind: 'connections cut', worker: 1, fromMs: 1100, untilMs: 1101 };
  const releasedTwice = (): Story =>
    new Story()
      .grant(1, 1000)
      .note(1, 1090, { k: 'release', name: 'job', token: 1_000_000 })
      .grant(2, 1150)
      .note(1, 1200, { k: 'released', name: 'job', token: 1_000_000, stillOurs: false });
  acquitted('a release that ioredis sent again after a cut', () =>
    releasedTwice().evidence({ keeper: 'redis', injections: [cut] }),
  );
  /** The other worker asks for the lock at `at`, and is granted it or not: it does not know. */
  const releasedAndAsked = (at: number, verdict: 'held' | 'failed'): Evidence =>
    new Story()
      .grant(1, 1000)
      .note(1, 1090, { k: 'release', name: 'job', token: 1_000_000 })
      .answered(2, at, verdict)
      .note(1, 1200, { k: 'released', name: 'job', token: 1_000_000, stillOurs: false })
      .evidence({ keeper: 'redis', injections: [cut] });
  acquitted('… also if the worker that got the lock meanwhile lost the answer', () =>
    releasedAndAsked(1150, 'failed'),
  );
  condemned('… but not if that worker was refused', () => releasedAndAsked(1150, 'held'), /P2: the release/);
  condemned(
    '… nor if it had its error before the release',
    () => releasedAndAsked(1040, 'failed'),
    /P2: the release/,
  );
  condemned(
    'a release that was refused without a cut',
    () => releasedTwice().evidence({ keeper: 'redis', injections: [{ ...cut, worker: 2 }] }),
    /P2: the release/,
  );
});

void suite('the judge of a campaign accepts and rejects runs', () => {
  const run = (key: string, effects: number[], { attempt = 1, state = 'completed' } = {}): Evidence => {
    const runs: FinalRun[] = [{ key, state, attempt, effects }];
    return asItShouldBe().evidence({ runs, keys: [key] });
  };
  acquitted('one effect of a transactional run', () => run('run-2', [3], { attempt: 3 }));
  condemned('two effects of a transactional run', () => run('run-2', [1, 2], { attempt: 2 }), /run-2/);
  condemned('no effect', () => run('run-2', []), /none/);
  acquitted('effects of earlier attempts of a plain run', () => run('run-1', [1, 2], { attempt: 2 }));
  condemned('an effect after the completion', () => run('run-1', [1, 2]), /run-1/);
  condemned('an attempt that ran twice', () => run('run-1', [1, 1]), /run-1/);
  condemned('a run that is still overdue', () => run('run-1', [1], { state: 'running' }), /run-1 is running/);
  condemned('a missing run', () => asItShouldBe().evidence({ keys: ['run-1'] }), /run-1 is missing/);
  condemned(
    'two calls that reported the run as executed',
    () =>
      asItShouldBe()
        .note(1, 1, { k: 'run', key: 'run-1', verdict: 'executed' })
        .note(2, 2, { k: 'run', key: 'run-1', verdict: 'executed' })
        .evidence(),
    /executed 2 times/,
  );
});

void suite('the judge of a campaign rejects incomplete campaigns', () => {
  condemned('no grants', () => new Story().evidence(), /nothing was granted/);
  condemned('no faults', () => asItShouldBe().evidence({ injections: [] }), /nothing was struck/);
  condemned(
    'an error that is not from the library',
    () => asItShouldBe().note(1, 1, { k: 'strange', error: 'TypeError' }).evidence(),
    /TypeError/,
  );
  void test('a kind of fault with enough time that never happened', () =>
    assert.deepEqual(verdictOn(asItShouldBe().evidence(), ['partition']).complaints, [
      'no such fault happened: partition',
    ]));
});
