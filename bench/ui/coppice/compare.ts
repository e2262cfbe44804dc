import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { noteKeys, openPage, timeEach, waitForText } from './page.ts'

const FILES = 10_000
const TIMES = 9

/** A fork with many changed files: opened, opened again, and one file after another. */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  await using open = await openPage(directory)
  const { home, page, origin } = open
  await home.createVault('base')
  const fork = await home.fork('base', 'task')
  const count = isQuick ? FILES / 10 : FILES
  const paths = Array.from({ length: count }, (_, index) => `/d${index % 100}/f${index}.txt`)
  await Promise.all(paths.map((path) => fork.write(path, `${path}\nline\n`)))
  const address = `${origin}/compare?from=${encodeURIComponent('vault:task^')}&to=${encodeURIComponent('vault:task')}`
  const rows = page.locator('.change-name')
  const show = async () => {
    await page.goto(address)
    return waitForText(page, '.change-name', '.txt')
  }
  recorder.note('compare-first', await timeEach(1, show))
  recorder.note('compare', await timeEach(TIMES, show))
  const names = await rows.evaluateAll((found) => found.map((row) => row.getAttribute('title') ?? ''))
  const shown = names.slice(1, 1 + TIMES)
  const readKeyTime = await noteKeys(page)
  recorder.note(
    'hunk',
    await timeEach(shown.length, async (turn) => {
      await page.keyboard.press('j')
      const shownAt = await waitForText(page, '.diff', shown[turn] ?? '')
      return shownAt - (await readKeyTime())
    }),
  )
}
