import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';

const KEY = Symbol('nightly');

class Jobs {
  static label = 'static';
  constructor(readonly label: string) {}

  @SchedulerLock('greet', '1m')
  async greet(greeting: string, mark = '!'): Promise<string | undefined> {
    return await Promise.resolve(`${greeting}, ${this.label}${mark}`);
  }

  @SchedulerLock('count', '1m')
  async count(...all: number[]): Promise<number | undefined> {
    return await Promise.resolve(all.length);
  }

  @SchedulerLock('keyed', '1m')
  async [KEY](): Promise<string | undefined> {
    return await Promise.resolve(this.label);
  }

  @SchedulerLock('static', '1m')
  static async greetAll(): Promise<string | undefined> {
    return await Promise.resolve(this.label);
  }

  @SchedulerLock('private', '1m')
  private async hidden(): Promise<string | undefined> {
    return await Promise.resolve(`hidden ${this.label}`);
  }

  async callHidden(): Promise<string | undefined> {
    return await this.hidden();
  }

  async plain(): Promise<void> {}
}

class Others extends Jobs {
  static override label = 'static others';
}

let bench: TestGuard;
before(() => void (bench = useTestGuard()));
after(() => bench.dispose());

void test('this, the arguments and the value are passed through (F-88)', async () => {
  assert.equal(await new Jobs('Ada').greet('Hello'), 'Hello, Ada!');
  assert.equal(await new Jobs('Ada').greet('Hello', '?'), 'Hello, Ada?');
  assert.equal(await new Jobs('Ada').count(1, 2, 3), 3);
  assert.equal(await new Jobs('Ada').greet.call({ label: 'Bob' } as Jobs, 'Hello'), 'Hello, Bob!');
});

void test('a method with a symbol key is guarded (F-84)', async () => {
  const acquired = bench.next('lock:acquired');
  assert.equal(await new Jobs('Ada')[KEY](), 'Ada');
  assert.equal((await acquired).name, 'keyed');
});

void test('a static method is guarded, and its this is the class that it was called on (F-84)', async () => {
  assert.equal(await Jobs.greetAll(), 'static');
  assert.equal(await Others.greetAll(), 'static others');
});

void test('a method that is private in TypeScript is guarded when its class calls it', async () => {
  const acquired = bench.next('lock:acquired');
  assert.equal(await new Jobs('Ada').callHidden(), 'hidden Ada');
  assert.equal((await acquired).name, 'private');
});

void test('the guarded method keeps name and length (F-85, F-88)', () => {
  const { greet, count, [KEY]: keyed } = Jobs.prototype as unknown as Record<string | symbol, () => void>;
  assert.deepEqual([greet?.name, greet?.length], ['greet', 1]);
  assert.deepEqual([count?.name, count?.length], ['count', 0]);
  assert.deepEqual([keyed?.name, keyed?.length], ['[nightly]', 0]);
  assert.equal((Jobs as unknown as Record<string, () => void>)['greetAll']?.name, 'greetAll');
});

void test('a guarded method is an ordinary method: not enumerable, writable, configurable', () => {
  assert.deepEqual(flagsOf('greet'), { writable: true, enumerable: false, configurable: true });
  assert.deepEqual(flagsOf('greet'), flagsOf('plain'));
});

void test('an inherited method is the same function, under the same lock (F-84)', () => {
  assert.equal(Object.hasOwn(Others.prototype, 'greet'), false);
  assert.equal(Reflect.get(new Others('Bob'), 'greet'), Reflect.get(new Jobs('Ada'), 'greet'));
});

function flagsOf(method: keyof Jobs): object {
  const { writable, enumerable, configurable } =
    Object.getOwnPropertyDescriptor(Jobs.prototype, method) ?? {};
  return { writable, enumerable, configurable };
}
