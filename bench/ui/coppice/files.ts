import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { openPage, timeEach, waitForText } from './page.ts'

const ROWS = 100_000
const AT_ONCE = 1000
const TIMES = 21
/** Steps by this share of the journal hit rows all over it, in no order. */
const GOLDEN = 0.618

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
}
