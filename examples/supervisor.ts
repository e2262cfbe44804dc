// A supervisor starts workers, restarts one that fails, and ends all of them with itself.
// Run: npx node examples/supervisor.ts
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHome } from 'coppice'
import { openKernel, type ProcessProgram } from 'coppice/kernel'

const directory = await mkdtemp(join(tmpdir(), 'coppice-supervisor-'))
const home = await openHome({ path: directory })
const agents = await openKernel({ home })
const { kernel } = agents

let starts = 0
const started = Promise.withResolvers<void>()

// A program takes the place of the model: it fails once, and then works until it is ended.
const flaky: ProcessProgram = async ({ signal }) => {
  starts++
  if (starts === 1) return { code: 1, reason: 'it failed once' }
  started.resolve()
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  return { code: 0, reason: 'asked to end' }
}

const pid = await kernel.spawnSupervisor({
  strategy: 'one_for_one',
  children: [{ intent: 'work', options: { program: flaky }, restart: 'permanent' }],
})
await started.promise
console.log(`supervisor ${pid} started its worker ${starts} times`)
assert.equal(starts, 2)

await agents.close()
await home.close()
await rm(directory, { recursive: true })
