import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

const [WIDTH, LONGEST] = [1280, 1600];

/** The pages, by the names of their pictures. */
function pagesOf(runAgain: string): Readonly<Record<string, string>> {
  const run = new URLSearchParams({ job: 'close-day', period: runAgain });
  return { jobs: '', job: '?job=close-day', run: `?${run.toString()}` };
}

/** @param runAgain the period of the run of close-day that an operator ran again */
export async function drawPictures(browser: Browser, address: string, runAgain: string): Promise<string[]> {
  const drawn: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 800 }, colorScheme });
    for (const [name, query] of Object.entries(pagesOf(runAgain))) {
      await page.goto(address + query);
      const file = join('docs', 'images', `dashboard-${name}-${colorScheme}.png`);
      await page.screenshot({ path: file, fullPage: true, clip: await shownPart(page, name) });
      drawn.push(file);
    }
    await page.close();
  }
  return drawn;
}

/** The whole page of all jobs, and the beginning of a longer page. */
async function shownPart(page: Page, name: string) {
  const { height = 0 } = (await page.locator('html').boundingBox()) ?? {};
  return { x: 0, y: 0, width: WIDTH, height: name === 'jobs' ? height : Math.min(height, LONGEST) };
}
