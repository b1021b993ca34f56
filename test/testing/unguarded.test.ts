import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentLock, InvalidLockUseError, SchedulerLock } from 'cronlatch';
import { unguarded } from 'cronlatch/testing';

class Report {
  readonly #lines: string[] = [];
  protected title = 'Report';

  @SchedulerLock('write-report', '10m')
  async write(line: string, times = 1): Promise<number | undefined> {
    for (let i = 0; i < times; i += 1) this.#lines.push(`${this.title}: ${line}`);
    return await Promise.resolve(this.#lines.length);
  }

  @SchedulerLock('echo', '10m')
  async echo<T>(value: T): Promise<T | undefined> {
    return await Promise.resolve(value);
  }

  @SchedulerLock('look', '10m')
  async look(): Promise<string | undefined> {
    return await Promise.resolve(currentLock({ optional: true })?.name);
  }

  @SchedulerLock('fail', '10m')
  async fail(): Promise<void> {
    await Promise.reject(new Error('no paper'));
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  print(): string {
    return this.#lines.join('\n');
  }
}

class MonthlyReport extends Report {
  protected override title = 'Month';
}

void test('the method runs without a guard, on its instance, with its arguments', async () => {
  const report = new Report();
  assert.equal(await unguarded(report, 'write')('all paid', 2), 2);
  assert.deepEqual(report.lines, ['Report: all paid', 'Report: all paid']);
});

void test('an inherited method sees the private and the protected state of its instance', async () => {
  const report = new MonthlyReport();
  await unguarded(report, 'write')('all paid');
  assert.deepEqual(report.lines, ['Month: all paid']);
});

void test('it keeps its type: arguments, result and type parameters', async () => {
  const report = new Report();
  const write: (line: string, times?: number) => Promise<number | undefined> = unguarded(report, 'write');
  const echoed: string | undefined = await unguarded(report, 'echo')('twice');
  assert.equal(await write(echoed ?? ''), 1);
  // @ts-expect-error -- a line is a text
  await write(1);
  // @ts-expect-error -- `lines` is not a method
  assert.throws(() => unguarded(report, 'lines'), InvalidLockUseError);
});

void test('it holds no lock', async () => {
  assert.equal(await unguarded(new Report(), 'look')(), undefined);
});

void test('its error is its own', async () => {
  await assert.rejects(unguarded(new Report(), 'fail')(), { message: 'no paper' });
});

void test('a method without a lock is rejected: the test would not test a guarded method', () => {
  assert.throws(
    () => unguarded(new Report(), 'print'),
    new InvalidLockUseError(
      'unguarded() needs a method with @SchedulerLock or @OncePer…, but Report.print has neither. Add one of them.',
    ),
  );
});
