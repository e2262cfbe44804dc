import { setTimeout as delay } from 'node:timers/promises'
import { createJsonRequestFile, type Device } from '../../../src/kernel/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { openPage, waitForText } from './page.ts'

const PROCESSES = 1000
const STEPS_A_SECOND = 200
const SECOND = 1000
const SECONDS = 5

/** Many processes at work while the page shows them. */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  const model = new PacedModel()
  await using open = await openPage(directory, {
    providers: { bench: model.device },
    defaults: { provider: 'bench' },
  })
  const { agents, page, origin } = open
  const count = isQuick ? PROCESSES / 10 : PROCESSES
  const spawned = await Promise.all(
    Array.from({ length: count }, (_, index) => agents.spawn({ intent: `measure ${index}` })),
  )
  await page.goto(origin)
  await waitForText(page, 'main', `measure ${count - 1}`)
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable')
  const readBusy = async () => {
    const { metrics } = await client.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  }
  const stop = model.start(STEPS_A_SECOND)
  const [before, startedAt] = [await readBusy(), performance.now()]
  await delay(SECONDS * SECOND)
  const busy = ((await readBusy()) - before) / ((performance.now() - startedAt) / SECOND)
  stop()
  recorder.note('busy', busy)
  for (const { pid } of spawned) agents.kill(pid, 'SIGKILL')
  model.release()
}

/** Lets its callers wait, and answers so many of them a second. */
class PacedModel {
  readonly #waiting: (() => void)[] = []

  get device(): Device {
    return {
      match: 'exact',
      open: () =>
        createJsonRequestFile('/dev/llm/bench', async () => {
          await new Promise<void>((resolve) => this.#waiting.push(resolve))
          const call = { id: 'call', name: 'plan_update', input: {} }
          return { content: 'looking', tokens_used: 1, tool_calls: [call] }
        }),
    }
  }

  release(): void {
    for (const answer of this.#waiting.splice(0)) answer()
  }

  start(aSecond: number): () => void {
    const timer = setInterval(() => this.#waiting.shift()?.(), SECOND / aSecond)
    return () => clearInterval(timer)
  }
}
