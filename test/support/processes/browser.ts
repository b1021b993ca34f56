import { after, test, type TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import { reportSkip } from '../servers/test-on';
import { CHROMIUM, launchChromium } from './chromium';

/** One for all tests of this process, because each start takes about a second. */
let shared: Promise<Browser> | undefined;

after(async () => await (await shared)?.close());

/** A test that needs a browser. Without one it is skipped, and the run reports it at its end. */
export function testInBrowser(name: string, body: (browser: Browser) => Promise<void>): void {
  void test(name, (t) => inBrowser(t, body));
}

/** The part of a test that needs a browser. Its pages share no cookies with those of other tests, and are closed after it. */
export async function inBrowser(t: TestContext, body: (browser: Browser) => Promise<void>): Promise<void> {
  if (CHROMIUM === undefined) {
    reportSkip('Chromium');
    return t.skip('there is no Chromium');
  }
  const browser = await (shared ??= launchChromium(CHROMIUM));
  try {
    await body(browser);
  } finally {
    for (const context of browser.contexts()) await context.close();
  }
}
