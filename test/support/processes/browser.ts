import { after, test, type TestContext } from 'node:test';
import { chromium, type Browser } from 'playwright-core';
import { reportSkip } from '../servers/test-on';

/** The browser's file and what its environment must contain, if the test run has found one. */
const CHROMIUM = process.env['CRONLATCH_TEST_CHROMIUM'];

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
  const browser = await (shared ??= launch(CHROMIUM));
  try {
    await body(browser);
  } finally {
    for (const context of browser.contexts()) await context.close();
  }
}

async function launch(found: string): Promise<Browser> {
  const { file, env } = JSON.parse(found) as { file: string; env: Record<string, string> };
  // Its sandbox refuses to run as root, and in most containers. The tests show it pages of their own only.
  return await chromium.launch({
    executablePath: file,
    env: { ...process.env, ...env },
    chromiumSandbox: false,
  });
}
