import 'reflect-metadata';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OncePerDay, SchedulerLock } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';
import { foreignDecorator } from '../support/jobs/both-modes';

const HIDDEN = Symbol('hidden');

/** Marks the function as a scheduler does that will call it. */
const marked = (mark: string) =>
  foreignDecorator((method) => {
    Reflect.defineMetadata(mark, `metadata ${mark}`, method);
    Object.defineProperty(method, HIDDEN, { value: `own ${mark}`, enumerable: false, configurable: true });
    Object.assign(method, { [mark]: `own ${mark}` });
  });

class Jobs {
  @marked('above')
  @SchedulerLock('above', '1m')
  async above(): Promise<void> {}

  @SchedulerLock('below', '1m')
  @marked('below')
  async below(): Promise<void> {}

  @marked('above')
  @OncePerDay({ timeZone: 'UTC' })
  @marked('middle')
  @SchedulerLock('between', '1m')
  @marked('below')
  async between(): Promise<void> {}
}

for (const place of ['above', 'below'] as const) {
  void test(`metadata of a decorator ${place} is found on the guarded method (F-85)`, () => {
    const method: object = Object.getOwnPropertyDescriptor(Jobs.prototype, place)?.value as object;
    assert.equal(Reflect.getMetadata(place, method), `metadata ${place}`);
    assert.deepEqual(Object.getOwnPropertyDescriptor(method, HIDDEN), {
      value: `own ${place}`,
      enumerable: false,
      configurable: true,
      writable: false,
    });
    assert.equal((method as Record<string, unknown>)[place], `own ${place}`);
  });
}

void test('metadata of decorators above, between and below is found together (F-85, L-59)', () => {
  const method = Object.getOwnPropertyDescriptor(Jobs.prototype, 'between')?.value as object;
  assert.deepEqual(Reflect.getOwnMetadataKeys(method).sort(), ['above', 'below', 'middle']);
  assert.equal((method as () => void).name, 'between');
  assert.equal(Reflect.get(method, HIDDEN), 'own above');
});

void test('a wrapper above runs outside of the lock, one below runs inside of it (F-85)', async () => {
  await using bench = useTestGuard();
  const order: string[] = [];
  bench.guard.on('lock:acquired', () => void order.push('lock'));
  const noted = (place: string) =>
    foreignDecorator(
      (method) =>
        async function (this: unknown, ...args) {
          order.push(place);
          return await method.apply(this, args);
        },
    );
  class Wrapped {
    @noted('above')
    @SchedulerLock('wrapped', '1m')
    @noted('below')
    async job(): Promise<void> {
      order.push('job');
      await Promise.resolve();
    }
  }
  await new Wrapped().job();
  assert.deepEqual(order, ['above', 'lock', 'below', 'job']);
});
