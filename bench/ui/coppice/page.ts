import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { type AgentKernel, type AgentKernelOptions, openKernel } from '../../../src/agent-kernel/index.ts'
import { type Home, openHome } from '../../../src/backends/vault/index.ts'
import { openWebUi } from '../../../src/web-server/index.ts'
import { median } from '../../harness/statistics.ts'

const PAGE = fileURLToPath(new URL('../../../dist/web', import.meta.url))
const CHROMIUM = '/usr/bin/chromium'

export interface OpenPage extends AsyncDisposable {
  readonly home: Home
  readonly agents: AgentKernel
  readonly page: Page
  /** Begins the address of every screen. */
  readonly origin: string
}

/** Serves a home, and opens its page in a browser. */
export async function openPage(
  directory: string,
  options: Pick<AgentKernelOptions, 'providers' | 'defaults'> = {},
): Promise<OpenPage> {
  await using stack = new AsyncDisposableStack()
  const path = mkdtempSync(join(directory, 'ui-'))
  stack.defer(() => rmSync(path, { recursive: true }))
  const home = stack.use(await openHome({ path }))
  const agents = await openKernel({ home, ...options })
  stack.defer(() => agents.close())
  const commands = { env: { PATH: process.env['PATH'] ?? '' } }
  const server = stack.use(await openWebUi({ home, agents, version: '0', port: 0, page: PAGE, commands }))
  const args = ['--disable-gpu', '--no-first-run', '--disable-background-networking']
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...args, ...sandbox] })
  stack.defer(() => browser.close())
  const page = await browser.newPage()
  await page.goto(server.createLink())
  await page.locator('.home-path').waitFor({ state: 'attached' })
  const closing = stack.move()
  return { home, agents, page, origin: server.origin, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/**
 * Waits for a text in a part of the page, frame by frame: locators look again after half a second at worst. Returns the
 * time at which it is there, in milliseconds since the page was asked for.
 */
export function waitForText(page: Page, selector: string, text: string): Promise<number> {
  return page.locator('html').evaluate(
    (html, wanted) =>
      new Promise<number>((resolve) => {
        const look = () => {
          const parts = [...html.querySelectorAll(wanted.selector)]
          if (parts.some(({ textContent }) => textContent.includes(wanted.text))) resolve(performance.now())
          else html.ownerDocument.defaultView.requestAnimationFrame(look)
        }
        look()
      }),
    { selector, text },
  )
}

/**
 * Makes every page that is loaded note the frame in which a text is first in one of its parts. Returns a function that
 * waits for it, and returns its time, in milliseconds since the page was asked for. The page looks from its start on:
 * the driver itself comes late, after the load event and the compilation of its own scripts.
 */
export async function noteText(page: Page, selector: string, text: string): Promise<() => Promise<number>> {
  const hasText = `[...document.querySelectorAll(${JSON.stringify(selector)})].some(({ textContent }) => textContent.includes(${JSON.stringify(text)}))`
  await page.addInitScript(`{
    const look = () => {
      if (${hasText}) document.documentElement.dataset.shownAt = performance.now()
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }`)
  return async () => {
    await page.locator('html[data-shown-at]').waitFor()
    return page.locator('html').evaluate(({ dataset }) => Number(dataset['shownAt']))
  }
}

/**
 * Makes the page note when it gets a key. Returns a function that reads that time, in milliseconds since the page was
 * asked for.
 */
export async function noteKeys(page: Page): Promise<() => Promise<number>> {
  const html = page.locator('html')
  await html.evaluate(({ ownerDocument, dataset }) => {
    const note = ({ timeStamp }: { readonly timeStamp: number }) => {
      dataset['pressedAt'] = String(timeStamp)
    }
    ownerDocument.addEventListener('keydown', note, { capture: true })
  })
  return () => html.evaluate(({ dataset }) => Number(dataset['pressedAt']))
}

/**
 * The median seconds of something that is done several times.
 *
 * @param work may return the milliseconds that it measured itself, in the page, where the driver takes no time.
 */
export async function timeEach(
  times: number,
  work: (turn: number) => Promise<number | undefined>,
): Promise<number> {
  const seconds: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const startedAt = performance.now()
    const measured = await work(turn)
    seconds.push((measured ?? performance.now() - startedAt) / 1000)
  }
  return median(seconds)
}
