// Opens an address in Chromium, logs in and agrees there, and waits for the page at which that ends: CHROMIUM OUT URL.
// The text of that page goes into the file OUT.
import { writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [executablePath, out, address] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  await page.goto(address);
  await page.fill('input[name=login]', 'person');
  await page.fill('input[name=password]', 'password');
  await page.click('button[type=submit]');
  await page.click('button:has-text("Continue")');
  await page.waitForURL('**/callback?**');
  writeFileSync(out, await page.innerText('body'));
} finally {
  await browser.close();
}
