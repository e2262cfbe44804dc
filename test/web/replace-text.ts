import type { Page } from 'playwright-core'

/** Replaces the text of an editor by keys, as a person does. */
export async function replaceText(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}
