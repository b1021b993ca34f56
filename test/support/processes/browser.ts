import type { TestContext } from 'node:test';
import { chromium, type Browser } from 'playwright-core';
import { testIf } from '../servers/test-on';

/** The browser's file and what its environment must contain, if the test run has found one. */
const CHROMIUM = process.env['CRONLATCH_TEST_CHROMIUM'];

/** A test that needs a browser, which is closed after it. Without one it is skipped, and the run reports it at its end. */
export function testInBrowser(name: string, body: (browser: Browser, t: TestContext) => Promise<void>): void {
  testIf(CHROMIUM !== undefined, 'Chromium', name, async (t) => {
    await using browser = await launch();
    await body(browser, t);
  });
}

async function launch(): Promise<Browser> {
  const { file, env } = JSON.parse(CHROMIUM ?? '{}') as { file: string; env: Record<string, string> };
  // Its sandbox refuses to run as root, and in most containers. The tests show it pages of their own only.
  return await chromium.launch({
    executablePath: file,
    env: { ...process.env, ...env },
    chromiumSandbox: false,
  });
}
