import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { currentLock, currentRun } from 'cronlatch';
import { instrumentGuard } from 'cronlatch/observability';
import { reasonOf, runningJob } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB, turn } from '../support/benches/lock';
import { stoppedBy } from '../support/jobs/close-day';

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
after(() => context.disable());

/** An instrumented guard, and the spans that have ended. */
function bench() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const runs = guardOfRuns();
  const stop = instrumentGuard(runs.guard, { tracerProvider });
  return {
    ...runs,
    stop,
    tracer: tracerProvider.getTracer('mine'),
    spans: () => exporter.getFinishedSpans(),
  };
}

const scheduledAt = new Date('2026-11-20T03:00:00Z');

void test('a run of a once-per job is a span with its job, business date and attempt', async () => {
  const { guard, spans } = bench();
  const oncePer = { ...DAILY.oncePer, name: 'close-the-day', scope: 'eu' } as const;
  let fencingToken: number | undefined;
  await guard.run({ ...DAILY, oncePer, scheduledAt }, (lock) => void (fencingToken = lock.fencingToken));
  const [span, ...others] = spans();
  assert.deepEqual(others, []);
  assert.equal(span?.name, 'run close-the-day');
  assert.deepEqual(span.attributes, {
    'cronlatch.job': 'close-the-day',
    'cronlatch.lock': 'close-day',
    'cronlatch.scheduled_at': '2026-11-20T03:00:00.000Z',
    'cronlatch.business_date': '2026-11-20',
    'cronlatch.period_key': '2026-11-20',
    'cronlatch.scope': 'eu',
    'cronlatch.generation': 0,
    'cronlatch.attempt': 1,
    'cronlatch.fencing_token': fencingToken,
  });
  assert.deepEqual([span.status, span.events], [{ code: SpanStatusCode.UNSET }, []]);
});

void test('the span is active in the handler, also after it has awaited, so its spans are children', async () => {
  const { guard, tracer, spans } = bench();
  await guard.run(DAILY, async () => {
    await turn();
    tracer.startActiveSpan('inner', (span) => span.end());
    assert.equal(currentRun().job, 'close-day');
    assert.equal(currentLock().name, 'close-day');
  });
  assert.equal(trace.getActiveSpan(), undefined);
  const [inner, run] = spans();
  assert.deepEqual([inner?.name, run?.name], ['inner', 'run close-day']);
  assert.equal(inner?.parentSpanContext?.spanId, run?.spanContext().spanId);
  assert.equal(run?.parentSpanContext, undefined);
});

void test('the span of a run is a child of the span that is active at its call', async () => {
  const { guard, tracer, spans } = bench();
  await tracer.startActiveSpan('request', async (span) => {
    await guard.run(JOB, () => {});
    span.end();
  });
  const [run, request] = spans();
  assert.deepEqual(run?.attributes['cronlatch.lock'], 'job');
  assert.equal(run?.parentSpanContext?.spanId, request?.spanContext().spanId);
});

void test('two runs at a time have a span each, and neither sees the other', async () => {
  const { guard } = bench();
  const active: (string | undefined)[] = [];
  const run = (name: string) =>
    guard.run({ ...JOB, name }, async () => {
      const before = trace.getActiveSpan()?.spanContext().spanId;
      await turn();
      assert.equal(trace.getActiveSpan()?.spanContext().spanId, before);
      active.push(before);
    });
  await Promise.all([run('one'), run('two')]);
  assert.equal(new Set(active).size, 2);
});

void test('the listener of an event of the run runs in its span, for logs with trace ids', async () => {
  const { guard, spans } = bench();
  let traceId: string | undefined;
  guard.on('run:completed', () => void (traceId = trace.getActiveSpan()?.spanContext().traceId));
  await guard.run(JOB, () => turn());
  assert.equal(traceId, spans()[0]?.spanContext().traceId);
});

void test('a failed run has the status error, the exception and its type, and the caller gets the error', async () => {
  const { guard, spans } = bench();
  const error = new RangeError('mine');
  assert.equal(await reasonOf(guard.run(JOB, () => Promise.reject(error))), error);
  const [span] = spans();
  assert.equal(span?.status.code, SpanStatusCode.ERROR);
  assert.equal(span.attributes['error.type'], 'RangeError');
  assert.deepEqual(
    span.events.map(({ name, attributes }) => [name, attributes?.['exception.message']]),
    [['exception', 'mine']],
  );
});

void test('a job that throws something unreadable fails with just that', async () => {
  const { guard, spans } = bench();
  const { proxy, revoke } = Proxy.revocable(new Error('mine'), {});
  revoke();
  const thrown = guard.run(JOB, () => {
    throw proxy;
  });
  assert.ok(await thrown.catch((reason: unknown) => reason === proxy));
  const [span] = spans();
  assert.deepEqual([span?.status.code, span?.attributes['error.type']], [SpanStatusCode.ERROR, '_OTHER']);
});

void test('a retry is a span with its attempt, and a run that is given back has its reason', async () => {
  const { guard, clock, spans } = bench();
  await reasonOf(guard.run(DAILY, () => Promise.reject(new Error('mine'))));
  clock.advance('10m');
  await guard.run(DAILY, () => currentRun().giveBack());
  assert.deepEqual(
    spans().map(({ attributes }) => [
      attributes['cronlatch.attempt'],
      attributes['outcome'],
      attributes['reason'],
    ]),
    [
      [1, 'failed', undefined],
      [2, 'skipped', 'given-back'],
    ],
  );
});

void test('the span of a run that a closing guard gives back is not an error', async () => {
  const { guard, spans } = bench();
  await stoppedBy(guard, DAILY);
  const [span, ...others] = spans();
  assert.deepEqual(others, []);
  assert.deepEqual(span?.status, { code: SpanStatusCode.UNSET });
  assert.deepEqual([span.attributes['outcome'], span.events], ['given-back', []]);
});

void test('a skipped tick has no span', async () => {
  const { guard, other, spans } = bench();
  await other.lock(JOB);
  await guard.run(JOB, () => assert.fail('ran'));
  assert.deepEqual(spans(), []);
});

void test('an overdue run that the guard starts itself has a span', async () => {
  const { guard, clock, spans } = bench();
  let calls = 0;
  const closeDay = guard.wrap(DAILY, () => {
    calls += 1;
    if (calls === 1) throw new Error('mine');
  });
  await closeDay();
  clock.advance('10m');
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(
    spans().map(({ attributes }) => attributes['cronlatch.attempt']),
    [1, 2],
  );
});

void test('after the stop, runs have no span, but the span of an active run ends', async () => {
  const { guard, stop, spans } = bench();
  const job = await runningJob(guard);
  stop();
  job.finish();
  await job.result;
  await guard.run(JOB, () => {});
  assert.equal(spans().length, 1);
});
