import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { InvalidLockConfigurationError } from 'cronlatch';
import { webhook } from 'cronlatch/notify';
import { closing } from '../../support/benches/closing';
import { failOnce, guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { ANSWERS, isSigned, Receiver } from '../../support/servers/receiver';
import { operations } from 'cronlatch/operations';

const SECRET = 'top-secret-signing-key';
const LIMIT_MS = 10_000;
const RETRIED_AFTER_MS = 30_000;

interface WebhookBench extends GuardOfRuns {
  readonly receiver: Receiver;
  /** All that a guard shows of itself: its log, its events and its rows. */
  readonly shown: () => Promise<string>;
  readonly warnings: string[];
}

function testWebhook(name: string, body: (bench: WebhookBench) => Promise<void>): void {
  void test(name, async () => {
    await using receiver = closing(await Receiver.open());
    const printed: string[] = [];
    const log = (line: string): void => void printed.push(line);
    const logger = { error: log, warn: log, info: log, debug: log };
    const made = guardOfRuns({ notify: webhook({ url: receiver.url, secret: SECRET }), logger });
    const warnings: string[] = [];
    made.events.on('guard:warning', (event) => {
      warnings.push(event.message);
      printed.push(inspect(event, { depth: 9 }));
    });
    const shown = async (): Promise<string> => {
      const { acts } = await made.runStore.notices.pending('notice');
      const overview = await operations(made.guard).overview();
      return [...printed, inspect([acts, overview, made.guard], { depth: 9, showHidden: true })].join('\n');
    };
    await body({ ...made, receiver, shown, warnings });
    await made.guard.close();
    assert.doesNotMatch(await shown(), /top-secret|127\.0\.0\.1/);
    assert.ok(!(await shown()).includes(`:${receiver.port}`));
  });
}

testWebhook('a webhook gets a signed request, with the id in a header and in the body', async (made) => {
  const { receiver, guard, warnings } = made;
  await failOnce(made);
  await guard.runOverdue();
  const [request, ...more] = await receiver.requests(1);
  assert.ok(request && more.length === 0);
  const { headers, notice } = request;
  assert.equal(headers['webhook-id'], notice.id);
  assert.equal(headers['content-type'], 'application/json');
  assert.ok(isSigned(request, SECRET));
  assert.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000) < 600);
  assert.deepEqual([notice.kind, notice.job, warnings], ['failed', 'close-day', []]);
  assert.deepEqual(Object.keys(notice).sort(), ['at', 'command', 'id', 'job', 'kind', 'text']);
});

const FAILING: Readonly<Record<Exclude<keyof typeof ANSWERS, 'ok'>, string>> = {
  fails: 'The webhook answered 500.',
  redirects: 'The webhook answered 302.',
  hangs: 'It took longer than 10 s.',
  'closes the connection': 'The webhook cannot be reached (UND_ERR_SOCKET).',
};

for (const [does, why] of Object.entries(FAILING))
  testWebhook(
    `a webhook that ${does} is called three times more, and then there is one warning`,
    async (made) => {
      const { receiver, guard, clock, warnings } = made;
      receiver.answer = ANSWERS[does as keyof typeof ANSWERS];
      await failOnce(made);
      for (let count = 1; count <= 4; count += 1) {
        const checked = guard.runOverdue();
        await receiver.requests(count);
        if (does === 'hangs') clock.advance(LIMIT_MS);
        await checked;
        assert.deepEqual([receiver.received.length, warnings.length], [count, count < 4 ? 0 : 1]);
        clock.advance(RETRIED_AFTER_MS);
      }
      await guard.runOverdue();
      await guard.runOverdue();
      assert.deepEqual(warnings, [`A notice about job 'close-day' was not sent, after 4 attempts: ${why}`]);
      assert.equal(new Set(receiver.notices.map(({ id }) => id)).size, 1);
      assert.equal(receiver.received.length, 4);
    },
  );

testWebhook('a webhook that fails keeps no job from running', async (made) => {
  const { receiver, guard } = made;
  receiver.answer = ANSWERS.hangs;
  await failOnce(made);
  await receiver.requests(1);
  assert.deepEqual(await guard.run({ name: 'other', lockAtMostFor: '1m' }, () => 'done'), {
    executed: true,
    value: 'done',
  });
});

testWebhook('a server that is down is named by its error code only', async (made) => {
  const { receiver, guard, clock, warnings } = made;
  receiver.close();
  await failOnce(made);
  for (let count = 1; count <= 4; count += 1) {
    await guard.runOverdue();
    clock.advance(RETRIED_AFTER_MS);
  }
  assert.deepEqual(warnings, [
    "A notice about job 'close-day' was not sent, after 4 attempts: The webhook cannot be reached (ECONNREFUSED).",
  ]);
});

void test('the error of a function of your own is shown without addresses', async () => {
  const notify = (): never => assert.fail('cannot post to https://hooks.example/T0/top-secret now');
  const made = guardOfRuns({ notify });
  const warnings: string[] = [];
  made.events.on('guard:warning', (event) => void warnings.push(inspect(event)));
  await failOnce(made);
  for (let count = 1; count <= 4; count += 1) {
    await made.guard.runOverdue();
    made.clock.advance(RETRIED_AFTER_MS);
  }
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /after 4 attempts: cannot post to \*\*\* now/);
});

void test('a secret with the prefix of Standard Webhooks is read as base64', async () => {
  await using receiver = closing(await Receiver.open());
  const key = Buffer.from('a key of Standard Webhooks');
  const notify = webhook({ url: new URL(receiver.url), secret: `whsec_${key.toString('base64')}` });
  const made = guardOfRuns({ notify });
  await failOnce(made);
  await made.guard.runOverdue();
  const [request] = await receiver.requests(1);
  assert.ok(request && isSigned(request, key));
});

void test('an invalid address or secret is refused, and not shown', () => {
  const url = 'https://hooks.example/top-secret';
  for (const options of [
    { url: 'top-secret', secret: 'key'.repeat(9) },
    { url: 'ftp://top-secret.example', secret: 'key'.repeat(9) },
    { url: 'https://anne:top-secret@hooks.example', secret: 'key'.repeat(9) },
    { url, secret: '' },
    { url, secret: ' ' },
    { url, secret: 7 },
    { url, secret: 'top-secret' },
    { url, secret: 'whsec_' },
    { url, secret: `whsec_${Buffer.alloc(15).toString('base64')}` },
    { url },
    { secret: 'top-secret' },
    { url, secret: 'top-secret', method: 'PUT' },
  ])
    assert.throws(
      () => webhook(options as never),
      (error) => error instanceof InvalidLockConfigurationError && !inspect(error).includes('top-secret'),
    );
});
