import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/** Runs all rules of axe-core in a page, and lists what they find, each with its element. */
export async function findViolations(page: Page): Promise<string[]> {
  // By the debugger, which the content security policy of the page does not hold back.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResult>('axe.run(document)')
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)}\n${failureSummary}`),
  )
}
