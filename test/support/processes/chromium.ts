import { chromium, type Browser } from 'playwright-core';

/** The browser's file and what its environment must contain, as JSON, if the script that started this process has found one. */
export const CHROMIUM = process.env['CRONLATCH_TEST_CHROMIUM'];

export async function launchChromium(found: string): Promise<Browser> {
  const { file, env } = JSON.parse(found) as { file: string; env: Record<string, string> };
  // Its sandbox refuses to run as root, and in most containers. It shows our own pages only.
  return await chromium.launch({
    executablePath: file,
    env: { ...process.env, ...env },
    chromiumSandbox: false,
  });
}
