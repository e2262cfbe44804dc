import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const INSTALL_MS = 300_000
const isRoot = process.getuid?.() === 0

/** The reason why no browser can run here; undefined where one can. Root on Debian gets it by apt-get. */
export function findBrowserProblem(): string | undefined {
  // Also where it is there: another test file may be about to install it.
  if (isRoot) installChromium()
  if (existsSync(CHROMIUM)) return undefined
  return isRoot
    ? `${CHROMIUM} is missing, and apt-get could not install it`
    : `${CHROMIUM} is missing; install it with: apt-get install chromium`
}

/** Installs the browser. Of several test files at once, one does it and the others wait. */
function installChromium(): void {
  const install = [
    'apt-get -qq -o Acquire::Retries=3 update',
    `test -e ${CHROMIUM} || DEBIAN_FRONTEND=noninteractive apt-get -qqy --no-install-recommends install chromium fonts-dejavu-core`,
  ]
  const lock = join(tmpdir(), 'coppice-test-chromium.lock')
  const options = { stdio: 'ignore', timeout: INSTALL_MS } as const
  try {
    execFileSync('flock', [lock, 'sh', '-c', `test -e ${CHROMIUM} || { ${install.join('; ')}; }`], options)
  } catch {
    // The caller reports a browser that is still missing.
  }
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
