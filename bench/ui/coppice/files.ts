import type { Page } from 'playwright-core'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { openPage, timeEach, waitForText } from './page.ts'

const ROWS = 100_000
const AT_ONCE = 1000
const TIMES = 21
/** Steps by this share of the journal hit rows all over it, in no order. */
const GOLDEN = 0.618
/** Time for which the slider is dragged. */
const DRAG_MS = 3000
/** Makes the page count its frames. */
const START_FRAMES = `{
  const startedAt = performance.now()
  let frames = 0
  let isCounting = true
  const count = () => { if (isCounting) { frames++; requestAnimationFrame(count) } }
  requestAnimationFrame(count)
  globalThis.stopFrames = () => { isCounting = false; return { frames, ms: performance.now() - startedAt } }
}`

/** A vault that changes while it is shown, and that has changed often. */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  await using open = await openPage(directory)
  const { home, page, origin } = open
  const vault = await home.createVault('base')
  await vault.write('/first.txt', 'first\n')
  await page.goto(`${origin}/files?tree=${encodeURIComponent('vault:base')}`)
  await page.getByText('first.txt').first().waitFor()
  const change = await timeEach(TIMES, async (turn) => {
    await vault.write(`/new-${turn}.txt`, 'new\n')
    await waitForText(page, 'main', `new-${turn}.txt`)
    return undefined
  })
  recorder.note('change', change)
  const rows = isQuick ? ROWS / 20 : ROWS
  for (let row = 0; row < rows; row += AT_ONCE) {
    recorder.progress(`writing the past · ${Math.round((row / rows) * 100)} %`)
    const batch = Array.from({ length: AT_ONCE }, (_, index) => row + index)
    await Promise.all(batch.map((at) => vault.write(`/d${at % 97}/f${at % 5000}`, `text ${at}\n`)))
  }
  const moment = await timeEach(TIMES, async (turn) => {
    const row = 1 + Math.floor((((turn + 1) * GOLDEN) % 1) * rows)
    const path = `/api/listFiles?tree=${encodeURIComponent(`vault:base~${row}`)}&path=${encodeURIComponent('/')}`
    const status = await page.evaluate(async (address) => {
      const headers = { authorization: `Bearer ${sessionStorage.getItem('coppice-token')}` }
      const response = await fetch(address, { headers })
      await response.json()
      return response.status
    }, path)
    if (status !== 200) throw new Error(`the files at row ${row}: status ${status}`)
    return undefined
  })
  recorder.note('moment', moment)
  await page.reload()
  recorder.note('frame', await measureFrames(page))
}

/** Drags the slider to and fro, and returns the mean seconds between two frames of the page meanwhile. */
async function measureFrames(page: Page): Promise<number> {
  const slider = page.getByRole('slider', { name: 'Moment' })
  const box = await slider.boundingBox()
  if (box === null) throw new Error('the page shows no slider')
  const moveTo = (share: number) =>
    page.mouse.move(box.x + 5 + share * (box.width - 10), box.y + box.height / 2)
  await moveTo(0)
  await page.mouse.down()
  await moveTo(1)
  await page.evaluate(START_FRAMES)
  const startedAt = performance.now()
  for (let step = 0; performance.now() - startedAt < DRAG_MS; step++) await moveTo(((step + 1) * GOLDEN) % 1)
  const { frames, ms } = await page.evaluate<{ frames: number; ms: number }>('stopFrames()')
  const moment = await slider.inputValue()
  await moveTo(0)
  await page.mouse.up()
  if ((await slider.inputValue()) === moment) throw new Error(`the slider stays at moment ${moment}`)
  return ms / frames / 1000
}
