import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduled } from 'cronlatch/node-cron';

const refused = (where: RegExp) => ({ name: 'InvalidLockUseError', message: where });

void test('@Scheduled is rejected on a getter, which no scheduler calls', () => {
  assert.throws(
    () => {
      class Jobs {
        // @ts-expect-error -- a getter is not a method
        @Scheduled('0 3 * * *')
        get nightly(): number {
          return 1;
        }
      }
      return Jobs;
    },
    refused(/@Scheduled\('0 3 \* \* \*'\) was applied to an accessor/),
  );
});

void test('@Scheduled is rejected on a class', () => {
  assert.throws(
    () => {
      // @ts-expect-error -- a class is not a method
      @Scheduled('0 3 * * *')
      class Jobs {}
      return Jobs;
    },
    refused(/@Scheduled\('0 3 \* \* \*'\) was applied to a (field or a )?class/),
  );
});

void test('on a field that does not hold a function', () => {
  assert.throws(
    () => {
      class Jobs {
        // @ts-expect-error -- a number is not a function
        @Scheduled('0 3 * * *')
        nightly = 1;
      }
      return new Jobs();
    },
    refused(/@Scheduled\('0 3 \* \* \*'\) was applied to (1|a field or a class)/),
  );
});

void test('@Scheduled is rejected on a private method, which cannot be found', () => {
  const nightly = async (): Promise<void> => {};
  const context = { kind: 'method', name: '#nightly', private: true, static: false };
  assert.throws(
    () => Scheduled('0 3 * * *')(nightly, context as ClassMethodDecoratorContext<object, typeof nightly>),
    refused(/@Scheduled\('0 3 \* \* \*'\) was applied to the private '#nightly'/),
  );
});
