import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { noteKeys, noteText, openPage, timeEach, waitForText } from './page.ts'

const FILES = 10_000
const TIMES = 9

/** A fork with many changed files: opened, opened again, opened after a change, and one file after another. */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  await using open = await openPage(directory)
  const { home, page, origin } = open
  await home.createVault('base')
  const fork = await home.fork('base', 'task')
  const count = isQuick ? FILES / 10 : FILES
  const paths = Array.from({ length: count }, (_, index) => `/d${index % 100}/f${index}.txt`)
  await Promise.all(paths.map((path) => fork.write(path, `${path}\nline\n`)))
  // The writer is this process: its work is done before the page is asked for.
  await fork.flush()
  const address = `${origin}/compare?from=${encodeURIComponent('vault:task^')}&to=${encodeURIComponent('vault:task')}`
  const rows = page.locator('.change-name')
  const readShownTime = await noteText(page, '.change-name', '.txt')
  const show = async () => {
    await page.goto(address)
    return readShownTime()
  }
  recorder.note('compare-first', await timeEach(1, show))
  recorder.note('compare-again', await timeEach(TIMES, show))
  // Another state of the fork is compared anew.
  const showChanged = async (turn: number) => {
    await fork.write('/d0/f0.txt', `changed ${turn}\n`)
    return show()
  }
  recorder.note('compare', await timeEach(TIMES, showChanged))
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
