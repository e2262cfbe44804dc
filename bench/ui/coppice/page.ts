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

/** Waits for a text in a part of the page, frame by frame. Locators look again after half a second at worst. */
export async function waitForText(page: Page, selector: string, text: string): Promise<void> {
  await page.locator('html').evaluate(
    (html, wanted) =>
      new Promise<void>((resolve) => {
        const look = () => {
          const parts = [...html.querySelectorAll(wanted.selector)]
          if (parts.some(({ textContent }) => textContent.includes(wanted.text))) resolve()
          else html.ownerDocument.defaultView.requestAnimationFrame(look)
        }
        look()
      }),
    { selector, text },
  )
}

/** The median seconds of something that is done several times. */
export async function timeEach(times: number, work: (turn: number) => Promise<unknown>): Promise<number> {
  const seconds: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const startedAt = performance.now()
    await work(turn)
    seconds.push((performance.now() - startedAt) / 1000)
  }
  return median(seconds)
}
