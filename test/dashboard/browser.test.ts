import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closing } from '../support/benches/closing';
import { testInBrowser } from '../support/processes/browser';

testInBrowser('the browser of the tests shows a page with its text', async (browser) => {
  await using server = closing(createServer((_request, response) => response.end('<h1>Nightly jobs</h1>')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const page = await browser.newPage();
  const blank = await page.screenshot();

  await page.goto(`http://127.0.0.1:${port}/`);

  assert.equal(await page.locator('h1').textContent(), 'Nightly jobs');
  // Without fonts, the page would be as white as the blank one.
  assert.notDeepEqual(await page.screenshot(), blank);
});
