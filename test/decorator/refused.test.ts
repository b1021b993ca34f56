import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError, SchedulerLock } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';

/** When the class is declared, or a first instance is made. */
function testRefused(where: string, message: RegExp, declare: () => unknown): void {
  void test(where, () => assert.throws(declare, { name: 'InvalidLockUseError', message }));
}

testRefused(
  'twice on one method, with the name of the method and both locks (F-84)',
  /'nightly' has @SchedulerLock twice: 'second' and 'first'/,
  () => {
    class Jobs {
      @SchedulerLock('first', '1m')
      @SchedulerLock('second', '1m')
      async nightly(): Promise<void> {}
    }
    return Jobs;
  },
);

testRefused('on a getter (F-84)', /@SchedulerLock\('job'\) was applied to an accessor/, () => {
  class Jobs {
    // @ts-expect-error -- a getter is not a method
    @SchedulerLock('job', '1m')
    get nightly(): number {
      return 1;
    }
  }
  return Jobs;
});

testRefused('on a setter (F-84)', /@SchedulerLock\('job'\) was applied to an accessor/, () => {
  class Jobs {
    // @ts-expect-error -- a setter is not a method
    @SchedulerLock('job', '1m')
    set nightly(_value: number) {}
  }
  return Jobs;
});

testRefused('on an accessor (F-84)', /@SchedulerLock\('job'\) was applied to an accessor/, () => {
  class Jobs {
    // @ts-expect-error -- an accessor is not a method
    @SchedulerLock('job', '1m')
    accessor nightly = 1;
  }
  return Jobs;
});

testRefused('on a class (F-84)', /@SchedulerLock\('job'\) was applied to a (field or a )?class/, () => {
  // @ts-expect-error -- a class is not a method
  @SchedulerLock('job', '1m')
  class Jobs {}
  return Jobs;
});

testRefused(
  'on a field that does not hold a function',
  /@SchedulerLock\('job'\) was applied to (1|a field)/,
  () => {
    class Jobs {
      // @ts-expect-error -- a number is not a function
      @SchedulerLock('job', '1m')
      nightly = 1;
    }
    return new Jobs();
  },
);

void test('a generator, when it is called, because cronlatch could not wait for its work', async () => {
  await using bench = useTestGuard();
  let ran = false;
  class Jobs {
    // @ts-expect-error -- a generator is not a promise
    @SchedulerLock('job', '1m')
    *steps(): Generator {
      yield (ran = true);
    }

    // @ts-expect-error -- an asynchronous generator is not a promise
    @SchedulerLock('job', '1m')
    async *asyncSteps(): AsyncGenerator {
      yield await Promise.resolve((ran = true));
    }
  }
  for (const step of ['steps', 'asyncSteps'] as const) {
    const call: unknown = new Jobs()[step]();
    await assert.rejects(call as Promise<unknown>, InvalidLockUseError);
  }
  assert.equal(ran, false);
  assert.ok(await bench.lockProvider.lock({ name: 'job', lockAtMostFor: '1m' }));
});
