import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const isRoot = process.getuid?.() === 0

/** The reason why no browser can run here; undefined where one can. Root on Debian gets it by apt-get. */
export function findBrowserProblem(): string | undefined {
  if (existsSync(CHROMIUM)) return undefined
  if (!isRoot) return `${CHROMIUM} is missing; install it with: apt-get install chromium`
  try {
    const options = { stdio: 'ignore', timeout: 300_000 } as const
    execFileSync('apt-get', ['update', '-q'], options)
    execFileSync('apt-get', ['install', '-qy', '--no-install-recommends', 'chromium'], options)
  } catch {
    return `${CHROMIUM} is missing, and apt-get could not install it`
  }
  return existsSync(CHROMIUM) ? undefined : `apt-get installed no ${CHROMIUM}`
}

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
