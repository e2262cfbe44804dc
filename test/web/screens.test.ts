import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { whyNoProgram } from '../support/debian-programs.ts'
import { root } from '../support/run-node.ts'
import { findViolations } from './axe.ts'
import { collectErrors, launchBrowser, waitForSession } from './browser.ts'
import { ShopScene } from './shop-scene.ts'

/** With COPPICE_PICTURES=1 the pictures of the guide are taken again. */
const isTaking = process.env['COPPICE_PICTURES'] === '1'
const VIEW = { width: 1200, height: 640 }
const problem = whyNoProgram('chromium-headless-shell')

describe.skipIf(problem !== undefined)(`the screens of coppice ui${problem ? `: ${problem}` : ''}`, () => {
  it('show a real home, each at its address, without a barrier that axe finds', async () => {
    const shop = new ShopScene()
    const fork = await shop.repair()
    await shop.runCommands()
    const { link, origin } = JSON.parse(await shop.ok('ui', '--json'))
    const browser = await launchBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage({ viewport: VIEW })
    page.setDefaultTimeout(20_000)
    const errors = collectErrors(page)
    await page.goto(link)
    await waitForSession(page)
    await shop.ask()
    await page.getByText('Should I convert them?').waitFor()

    const tree = encodeURIComponent(`fork:${fork}`)
    const file = encodeURIComponent('/src/cart.ts')
    await page.getByRole('link', { name: 'git push origin main' }).waitFor()
    await visit(page, 'home')
    await page.goto(`${origin}/process?pid=1&step=2`)
    await page.getByText('the count is missing').waitFor()
    await page.getByRole('cell', { name: 'added: let sum = 0' }).waitFor()
    await visit(page, 'process')
    await page.goto(`${origin}/compare?from=${tree}%5E&to=${tree}&path=${file}`)
    await page.getByRole('checkbox', { name: 'Keep hunk 2' }).uncheck()
    await visit(page, 'compare')
    await page.goto(`${origin}/files?tree=${tree}&path=${file}&view=blame`)
    await page.getByRole('link', { name: 'process 1' }).first().waitFor()
    await visit(page, 'files')
    await page.goto(`${origin}/approvals`)
    await page.getByRole('button', { name: 'Try it in a throw-away fork' }).click()
    await page.getByRole('cell', { name: 'added: 1.1.0' }).waitFor()
    await visit(page, 'approvals')
    expect(errors).toEqual([])
  })
})

/** Checks a screen, and takes its picture for the guide if that is wanted. */
async function visit(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await findViolations(page), `${name} in the ${colorScheme} theme`).toEqual([])
  }
  if (!isTaking) return
  const directory = join(root, 'docs/images')
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `ui-${name}.png`) })
}
