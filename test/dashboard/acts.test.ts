import assert from 'node:assert/strict';
import { DAY_MS, testOperated, type Operated } from '../cli/operated';
import { operations } from 'cronlatch/operations';
import { dailyJob, register, registerEarlier } from '../cli/year-of-runs';
import { lastAct } from '../support/jobs/acts';
import { confirmationIn, fieldsOf, siteOf, type Answer } from './site';

function dayAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

function assertDone({ status, headers, text }: Answer, act: string, place?: string): void {
  assert.equal(status, 303, text);
  const [address = '', part] = (headers.get('location') ?? '').split('#');
  if (place !== undefined) assert.equal(address, place);
  assert.equal(part, 'main');
  assert.match(headers.get('set-cookie') ?? '', new RegExp(`cronlatch_done=${act}; `));
}

/** The message of a page. */
function alertOf({ text }: Answer): string {
  return /role="alert">([^<]*)/.exec(text)?.[1] ?? '';
}

/** What the history of a run keeps of acts. */
async function actsOn({ guard }: Operated, job: string, periodKey: string) {
  const events = await guard.ledger.history({ job, scope: '', periodKey });
  return events
    .filter(({ actor }) => actor === 'anne')
    .map(({ kind, detail = '' }) => `${kind} ${detail.replace(/ since .*\)/, ')')}`);
}

testOperated('"Run now" requests a run, and shows that it is requested', async ({ guard }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  assertDone(await site.send('?job=close-day', 'run'), 'run', '?job=close-day');
  const request = await lastAct(guard, 'close-day');
  assert.deepEqual([request?.actor, request?.reason], ['anne', 'ticket 7']);
  assert.match(
    (await site.get('?job=close-day')).text,
    /role="status">Requested\. An instance starts the job at its next check/,
  );
});

testOperated('an act on a lock that cannot be recorded reports that', async ({ guard, query }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  await query('DROP TABLE cronlatch_run_act');
  assertDone(await site.send('?job=close-day', 'pause'), 'pause.unrecorded', '?job=close-day');
  const { text } = await site.get('?job=close-day');
  assert.match(text, /role="status">Paused: .+ It is not recorded: a warning of the guard has the reason\.</);
});

testOperated('a failed run is rerun, and a completed one only after a confirmation', async (bench) => {
  const { guard, runDaysAgo } = bench;
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  const failed = await runDaysAgo('close-day', 2, new Error('no disk'));
  const completed = await runDaysAgo('close-day', 1);

  assertDone(await site.send(`?job=close-day&period=${failed}`, 'rerun'), 'rerun');
  assert.deepEqual(await actsOn(bench, 'close-day', failed), ['rerun ticket 7 (was failed)']);

  const asked = await site.send(`?job=close-day&period=${completed}`, 'rerun');
  assert.equal(asked.status, 200);
  assert.match(asked.text, /its work will be done a second time\./);
  assert.equal(fieldsOf(asked.text, 'rerun')['reason'], 'ticket 7');
  assert.deepEqual(await actsOn(bench, 'close-day', completed), []);
  const confirmed = confirmationIn(asked.text) ?? '';
  assertDone(await site.send(`?job=close-day&period=${completed}`, 'rerun', { confirmed }), 'rerun');
  assert.deepEqual(await actsOn(bench, 'close-day', completed), ['rerun ticket 7 (was completed)']);
});

testOperated(
  'an interrupted run is resolved, and a failed run and a missed day are skipped',
  async (bench) => {
    const { guard, runDaysAgo, query } = bench;
    const site = siteOf(guard);
    await register(guard, dailyJob('close-day'));
    const [interrupted, failed] = [await runDaysAgo('close-day', 4), dayAgo(3)];
    await query(`UPDATE cronlatch_run SET state = 'interrupted'`);
    await operations(guard).skip({ job: 'close-day', period: failed }, { actor: 'bob', reason: 'no' });
    await query(`UPDATE cronlatch_run SET state = 'failed' WHERE state = 'skipped'`);

    const page = `?job=close-day&period=${interrupted}`;
    const unclear = await site.send(page, 'resolve', { as: 'done' });
    assert.equal(unclear.status, 422);
    assert.equal(alertOf(unclear), 'as is &quot;done&quot;: use completed, failed, pending.');
    const asked = await site.send(page, 'resolve', { as: 'pending' });
    assert.equal(asked.status, 200);
    assert.match(
      asked.text,
      /\/\d+ may still be running it, and is not stopped, so first make sure that it has ended\./,
    );
    assert.deepEqual(await actsOn(bench, 'close-day', interrupted), []);
    assert.match(asked.text, new RegExp(`name="confirmed" value="[^"]*/${process.pid}/`));
    assertDone(await site.send(page, 'resolve', { as: 'failed' }), 'resolve');
    assert.deepEqual(await actsOn(bench, 'close-day', interrupted), ['resolved ticket 7 (was interrupted)']);
    for (const period of [failed, dayAgo(2)]) {
      assertDone(await site.send(`?job=close-day&period=${period}`, 'skip'), 'skip');
      const [act] = await actsOn(bench, 'close-day', period);
      assert.match(act ?? '', /^skipped ticket 7/);
    }
  },
);

testOperated(
  'a pause names the other jobs of the lock first, and lasts until "Resume"',
  async ({ guard }) => {
    const site = siteOf(guard);
    const shared = { lock: 'books' };
    await register(guard, dailyJob('close-day', shared), dailyJob('audit', shared));
    const asked = await site.send('?job=close-day', 'pause', { until: '2h' });
    assert.match(asked.text, /so they are paused, too:[^]*<li>audit<\/li>/);
    assert.equal(fieldsOf(asked.text, 'pause')['until'], '2h');
    assert.equal(await guard.locks.inspect('books'), undefined);
    const confirmed = confirmationIn(asked.text) ?? '';
    assertDone(await site.send('?job=close-day', 'pause', { until: '2h', confirmed }), 'pause');
    assert.match((await guard.locks.inspect('books'))?.lockedBy ?? '', /^hold\/anne\/ticket 7\//);
    assertDone(await site.send('?job=close-day', 'resume'), 'resume');
    assert.equal((await guard.locks.inspect('books'))?.isHeld, false);
  },
);

testOperated('a free lock is paused until it is resumed', async ({ guard }) => {
  const site = siteOf(guard);
  const lock = await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '10m' });
  await lock?.unlock();
  const wrong = await site.send('?lock=books', 'pause', { until: 'soon' });
  assert.equal(wrong.status, 422);
  assert.match(alertOf(wrong), /^until is &quot;soon&quot;: use an instant with its offset/);
  assert.equal(fieldsOf(wrong.text, 'pause')['until'], 'soon');
  assertDone(await site.send('?lock=books', 'pause'), 'pause', '?lock=books');
  assert.equal((await guard.locks.inspect('books'))?.isHeld, true);
  assertDone(await site.send('?lock=books', 'resume'), 'resume');
  assert.equal((await guard.locks.inspect('books'))?.isHeld, false);
});

testOperated('a holder whose renewal is not late is named before it is released', async ({ guard }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day', { renewEveryMs: 200_000 }));
  await guard.lockManager().tryLock({ name: 'close-day', lockAtMostFor: '10m' });
  const held = async (): Promise<boolean | undefined> => (await guard.locks.inspect('close-day'))?.isHeld;
  const asked = await site.send('?lock=close-day', 'release');
  assert.equal(asked.status, 200);
  assert.match(
    asked.text,
    new RegExp(`/${process.pid} may still run: its renewal of the lock is not late\\.`),
  );
  const stale = await site.send('?lock=close-day', 'release', { owner: 'host/1/a', confirmed: 'host/1/a' });
  assert.equal(stale.status, 422);
  assert.match(alertOf(stale), /Lock &#39;close-day&#39; is held by .+, not by &#39;host\/1\/a&#39;\./);
  assert.equal(await held(), true);
  const confirmed = confirmationIn(asked.text) ?? '';
  assertDone(await site.send('?lock=close-day', 'release', { confirmed }), 'release');
  assert.equal(await held(), false);
});

testOperated(
  'a holder that renews while an operator decides is still the one to release',
  async ({ guard }) => {
    const site = siteOf(guard);
    await register(guard, dailyJob('close-day', { renewEveryMs: 200_000 }));
    const lock = await guard.lockManager().tryLock({ name: 'close-day', lockAtMostFor: '10m' });
    const fields = { ...fieldsOf((await site.get('?lock=close-day')).text, 'release'), reason: 'ticket 7' };
    assert.equal(await lock?.extend('10m'), true);
    const asked = await site.post('?lock=close-day', fields);
    assert.equal(asked.status, 200);
    assert.equal(await lock?.extend('10m'), true);
    const confirmed = confirmationIn(asked.text) ?? '';
    assertDone(await site.post('?lock=close-day', { ...fields, confirmed }), 'release');
    assert.equal((await guard.locks.inspect('close-day'))?.isHeld, false);
  },
);

testOperated(
  'a lock that jobs share needs a second answer, and one that lockAtLeastFor keeps needs none',
  async ({ guard }) => {
    const site = siteOf(guard);
    await register(guard, dailyJob('read', { lock: 'books' }), dailyJob('write', { lock: 'books' }));
    await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '10m' });
    const asked = await site.send('?lock=books', 'release');
    assert.equal(asked.status, 200);
    assertDone(
      await site.send('?lock=books', 'release', { confirmed: confirmationIn(asked.text) ?? '' }),
      'release',
    );
    await guard.run({ name: 'kept', lockAtMostFor: '10m', lockAtLeastFor: '10m' }, () => 1);
    assertDone(await site.send('?lock=kept', 'release'), 'release');
    assert.equal((await guard.locks.inspect('kept'))?.isHeld, false);
  },
);

testOperated('a range shows exactly the days that it adds after the confirmation', async (bench) => {
  const { guard, runDaysAgo } = bench;
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  await runDaysAgo('close-day', 6);
  await runDaysAgo('close-day', 3);
  const range = { from: dayAgo(5), to: dayAgo(2) };
  const days = [dayAgo(5), dayAgo(4), dayAgo(2)];
  const asked = await site.send('?job=close-day', 'run', range);
  assert.deepEqual(
    [...asked.text.matchAll(/<li>(\d{4}-\d\d-\d\d)<\/li>/g)].map(([, day]) => day),
    days,
  );
  const confirmed = confirmationIn(asked.text) ?? '';
  assert.equal(confirmed, days.join(' '));
  await runDaysAgo('close-day', 4);
  const changed = await site.send('?job=close-day', 'run', { ...range, confirmed });
  assert.equal(changed.status, 200, 'other days need another confirmation');
  const again = { ...range, confirmed: confirmationIn(changed.text) ?? '' };
  assertDone(await site.send('?job=close-day', 'run', again), 'run');
  const pending = await guard.ledger.list({ job: 'close-day', states: ['pending'] });
  assert.deepEqual(pending.map(({ periodKey }) => periodKey).sort(), [dayAgo(5), dayAgo(2)].sort());
  for (const day of [dayAgo(5), dayAgo(2)])
    assert.match((await actsOn(bench, 'close-day', day)).join(), /ticket 7/);
  const empty = await site.send('?job=close-day', 'run', range);
  assert.match(empty.text, /No business day from \S+ to \S+ lacks a run\./);
});

testOperated('a job that no instance declares any more is forgotten', async ({ guard, query }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'), dailyJob('audit'));
  assert.equal((await site.send('?job=audit', 'forget')).status, 422, 'an instance still declares it');
  await query(`UPDATE cronlatch_job SET registered_at = registered_at - 3600000000`);
  assertDone(await site.send('?job=audit', 'forget'), 'forget', '?');
  const { verb, actor, reason, state } = (await lastAct(guard, 'audit')) ?? {};
  assert.deepEqual([verb, actor, reason, state], ['forget', 'anne', 'ticket 7', 'done']);
  assert.equal((await site.get('?job=audit')).status, 404);
});

testOperated('a wrong reason changes nothing, and the form keeps what was typed', async ({ guard }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  for (const reason of ['', '   ', 'x'.repeat(501)]) {
    const refused = await site.send('?job=close-day', 'pause', { until: '2h', reason });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /role="alert">reason is [^<]*1 to 500 characters\./);
    assert.deepEqual(
      [fieldsOf(refused.text, 'pause')['until'], fieldsOf(refused.text, 'pause')['reason']],
      ['2h', reason.trim()],
    );
  }
  assert.equal(await guard.locks.inspect('close-day').then((lock) => lock?.isHeld ?? false), false);
});

testOperated('an unknown act is refused with a message', async (bench) => {
  const site = siteOf(bench.guard);
  await register(bench.guard, dailyJob('close-day'));
  const period = await bench.runDaysAgo('close-day', 1, new Error('no disk'));
  const page = `?job=close-day&period=${period}`;
  for (const act of ['explode', 'constructor', '__proto__']) {
    const unknown = await site.send(page, 'rerun', { act });
    assert.equal(unknown.status, 422, act);
    assert.deepEqual(await actsOn(bench, 'close-day', period), []);
    assert.match(alertOf(unknown), new RegExp(`There is no act &#39;${act}&#39;\\.`));
  }
});

testOperated('an address finds no file by a name of every object', async ({ guard }) => {
  const site = siteOf(guard);
  for (const name of ['constructor', '__proto__', 'toString']) {
    const asset = await site.get(`?asset=${name}`);
    assert.match(asset.text, /No jobs yet: start an instance/, name);
  }
});

testOperated('missed days of a job with a scope lead to its runs, and are added to them', async (bench) => {
  const { guard, query } = bench;
  const site = siteOf(guard);
  await registerEarlier(bench, dailyJob('close-day', { scope: 'eu' }));
  await bench.runDaysAgo('close-day', 2);
  await query(`UPDATE cronlatch_run SET scope = 'eu'`);
  const [missed, link] = [dayAgo(1), `?job=close-day&amp;period=${dayAgo(1)}&amp;scope=eu`];
  for (const page of ['', '?job=close-day']) assert.ok((await site.get(page)).text.includes(link), page);
  const range = { from: missed, to: missed };
  const asked = await site.send('?job=close-day', 'run', range);
  assert.equal(confirmationIn(asked.text), missed);
  assertDone(await site.send('?job=close-day', 'run', { ...range, confirmed: missed }), 'run');
  const runs = await guard.ledger.list({ job: 'close-day', states: ['pending'] });
  assert.deepEqual(
    runs.map(({ scope, periodKey }) => [scope, periodKey]),
    [['eu', missed]],
  );
});

testOperated('an act that the page no longer offers is refused with a message', async ({ guard }) => {
  const site = siteOf(guard);
  const lock = await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '10m' });
  const fields = { ...fieldsOf((await site.get('?lock=books')).text, 'release'), reason: 'ticket 7' };
  await lock?.unlock();
  const late = await site.post('?lock=books', fields);
  assert.equal(late.status, 422);
  assert.equal(alertOf(late), 'Lock &#39;books&#39; is free: no process holds it.');
});

testOperated('a range without dates runs nothing', async ({ guard }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  const { status, text } = await site.send('?job=close-day', 'run-range');
  assert.equal(status, 422);
  assert.match(text, /role="alert">from is/);
  assert.deepEqual(await lastAct(guard, 'close-day'), undefined);
});

testOperated('each problem has the form of its remedy beside it', async (bench) => {
  const { guard, runDaysAgo } = bench;
  const site = siteOf(guard);
  await registerEarlier(bench, dailyJob('gap'), dailyJob('broken'));
  const missed = await runDaysAgo('gap', 2).then(() => dayAgo(1));
  await runDaysAgo('gap', 0);
  const failed = await runDaysAgo('broken', 0, new Error('no disk'));
  const { text } = await site.get('?');
  const ids = [...text.matchAll(/<form method="post" action="#(\S+)"/g)].map(([, id = '']) => id);
  const [rerun = '', skip = '', run = ''] = ids;
  assert.equal(ids.length, 3);
  const day = { job: 'broken', period: failed };
  for (const [id, expected] of [
    [rerun, { act: 'rerun', ...day }],
    [skip, { act: 'skip', ...day }],
    [run, { act: 'run', job: 'gap', from: missed, to: missed }],
  ] as const) {
    const fields = fieldsOf(text, id);
    assert.deepEqual({ ...fields, ...expected }, fields, id);
  }
  const asked = await site.send('?', run);
  assert.equal(confirmationIn(asked.text), missed);
  assert.match(asked.text, new RegExp(`<details class="act" id="act-${run}" open`));
  assertDone(await site.send('?', run, { confirmed: missed }), 'run');
  assertDone(await site.send('?', rerun), 'rerun');
  assert.deepEqual(await actsOn(bench, 'broken', failed), ['rerun ticket 7 (was failed)']);
});

testOperated('an address of nothing leads back to all jobs', async ({ guard }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  const queries = [
    ...['?job=nothing', '?job=nothing&period=2026-01-01', '?job=close-day&period=2026-02-30'],
    ...['?job=close-day&period=%00', '?job=close-day&runs=some'],
    ...['?lock=nothing', '?days=31', '?days=x', '?page=0', '?page=2', '?page=1.5'],
  ];
  for (const query of queries) {
    const { status, text } = await site.get(query);
    assert.equal(status, 404, query);
    assert.match(text, /<a href="\?">All jobs<\/a>/, query);
  }
});
