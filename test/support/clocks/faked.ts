import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { closing } from '../benches/closing';
import { testIf } from '../servers/test-on';

/** The file of libfaketime, if the test run has found it. */
const LIBRARY = process.env['CRONLATCH_TEST_FAKETIME'];

export const CAN_FAKE_CLOCKS = LIBRARY !== undefined;

/** The wall clock of processes, set by the test. */
export class FakedClock {
  // A server may run as another user, who must be able to read the file.
  readonly #file = join(tmpdir(), `cronlatch-clock-${randomUUID()}`);

  constructor() {
    this.set('+0');
    chmodSync(this.#file, 0o644);
  }

  /** The environment that gives a process this clock. Its monotonic clocks are not affected. */
  get environment(): Readonly<Record<string, string>> {
    return {
      ...preloaded(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** The environment that moves all clocks of a process, so that its timers fire too. */
  get environmentOfAll(): Readonly<Record<string, string>> {
    return { ...this.environment, FAKETIME_DONT_FAKE_MONOTONIC: '0' };
  }

  /**
   * @param shown `'+1h'`, `'-1d'`: this much ahead of the real time, or behind it; `'@2038-01-19 03:14:00'`:
   * that instant, now, in UTC
   */
  set(shown: string): void {
    writeFileSync(this.#file, `${shown}\n`);
  }

  /** Every process started by `start` has this clock. */
  async during<T>(start: () => Promise<T>): Promise<T> {
    const before = { ...process.env };
    Object.assign(process.env, this.environment, { TZ: 'UTC' });
    try {
      return await start();
    } finally {
      for (const name of [...Object.keys(this.environment), 'TZ']) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  }

  dispose(): void {
    rmSync(this.#file);
  }
}

/** For a process all of whose clocks run at another rate: 2 is twice as fast. */
export function rateOfClocks(rate: number): Readonly<Record<string, string>> {
  return { ...preloaded(), FAKETIME: `+0 x${rate}` };
}

/** A test that needs libfaketime. Without it, the test is skipped, and the run reports it at its end. */
export function testWithFakedClock(
  name: string,
  body: (clock: FakedClock, t: TestContext) => Promise<void>,
): void {
  testIf(CAN_FAKE_CLOCKS, 'libfaketime', name, async (t) => {
    await using clock = closing(new FakedClock());
    await body(clock, t);
  });
}

function preloaded(): Record<string, string> {
  return { LD_PRELOAD: LIBRARY ?? '' };
}
