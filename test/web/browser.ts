import { type Browser, chromium, type Page } from 'playwright-core'

/** Chromium without its own windows: the same pages for half the processor time. */
const CHROMIUM = '/usr/bin/chromium-headless-shell'
const isRoot = process.getuid?.() === 0

/** Starts a browser with a profile of its own, which it removes at its end. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: [
      ...(isRoot ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** Errors that a page reported: thrown ones, and what the browser refused, such as by the content security policy. */
export function collectErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    // A refused request is an answer, which the page shows.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text())
  })
  return errors
}

/** Waits until the code of an address is traded and the home is read. */
export async function waitForSession(page: Page): Promise<void> {
  await page.locator('.home-path').waitFor({ state: 'attached' })
}
