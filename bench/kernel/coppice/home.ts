import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type AgentKernel, openKernel } from '../../../src/agent-kernel/index.ts'
import { openHome } from '../../../src/backends/vault/index.ts'
import { createJsonRequestFile, type Device, type ModelRequest } from '../../../src/kernel/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'

const PROCESSES = 1000
const STEPS = 10
const REPEATS = 100
const SECOND = 1000
const FILE = 'vfs:///shared/cart.ts'
const LINE = 'export const price = (cart: Cart) => sum(cart.items)\n'

/**
 * The kernel of a home, as the daemon opens it: with guard, output cache, events and records of every step. The home
 * stays until the end of the run: for minutes after a removal, ext4 tries each removed inode before it creates a file.
 */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  const place = mkdtempSync(join(directory, 'home-'))
  const home = await openHome({ path: place })
  const model = new ReadingModel()
  const agents = await openKernel({
    home,
    providers: { bench: model.device },
    defaults: { provider: 'bench' },
  })
  await agents.person.fs.write('/shared/cart.ts', LINE.repeat(200), {}, agents.asPerson)
  recorder.note('home spawn', await measureSpawn(agents))
  await measureMany(recorder, agents, isQuick ? PROCESSES / 10 : PROCESSES)
  recorder.note('memory', model.mostMemory)
  await agents.close()
  await home.close()
}

/** Measures from the call to the number of the process, which asks its model meanwhile. */
async function measureSpawn(agents: AgentKernel): Promise<number> {
  const times: number[] = []
  for (let turn = 0; turn < REPEATS; turn++) {
    const started = performance.now()
    const { pid } = await agents.spawn({ intent: 'measure', max_steps: 1 })
    times.push(performance.now() - started)
    await agents.wait(pid)
  }
  return (times.toSorted((one, other) => one - other)[REPEATS / 2] ?? Number.NaN) / SECOND
}

async function measureMany(recorder: Recorder, agents: AgentKernel, count: number): Promise<void> {
  const used = process.cpuUsage()
  const started = performance.now()
  const spawned = await Promise.all(
    Array.from({ length: count }, (_, index) => agents.spawn({ intent: `measure ${index}` })),
  )
  const ends = await Promise.all(spawned.map(({ pid }) => agents.wait(pid)))
  const seconds = (performance.now() - started) / SECOND
  const { user, system } = process.cpuUsage(used)
  const failed = ends.find(({ exit_code }) => exit_code !== 0)
  if (failed !== undefined) throw new Error(`process ${failed.pid}: ${failed.reason}`)
  recorder.note('many', seconds / (count * STEPS))
  recorder.note('processor', (user + system) / SECOND ** 2 / (count * STEPS))
}

/** Answers at once: it reads a page, and searches once for more than fits into a context. */
class ReadingModel {
  mostMemory = 0
  #asked = 0

  get device(): Device {
    const path = '/dev/llm/bench'
    return {
      match: 'exact',
      open: () => createJsonRequestFile(path, async (request) => this.#answer(request)),
    }
  }

  #answer(request: unknown) {
    if (!isModelRequest(request)) throw new Error('the kernel sent no messages')
    const step = (request.messages.length + 1) / 2
    if (step === STEPS - 1 && this.#asked++ % 100 === 0)
      this.mostMemory = Math.max(this.mostMemory, process.memoryUsage.rss())
    if (step >= STEPS) return { content: 'done', tokens_used: 1 }
    const call =
      step === 1
        ? { name: 'file_grep', input: { path: FILE, pattern: 'price' } }
        : { name: 'file_read', input: { path: FILE, offset: step * 10, limit: 10 } }
    return { content: '', tokens_used: 1, tool_calls: [{ id: `call-${step}`, ...call }] }
  }
}

function isModelRequest(request: unknown): request is Pick<ModelRequest, 'messages'> {
  return typeof request === 'object' && request !== null && 'messages' in request
}
