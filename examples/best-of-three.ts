// Three processes try the same task, each in its own fork. The one that passes the check is merged.
// Run: npx node examples/best-of-three.ts
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHome, readText } from 'coppice'
import { createJsonRequestFile, type Device, type ModelRequest, openKernel } from 'coppice/kernel'

const directory = await mkdtemp(join(tmpdir(), 'coppice-best-of-three-'))
const home = await openHome({ path: directory })
const base = await home.createVault('base')
await base.write('/sum.js', 'export const sum = (a, b) => a - b\n')

// Stands in for a model: each attempt writes another body of the function.
let attempt = 0
const guesser: Device = {
  match: 'exact',
  open: () => {
    const body = ['a * b', 'a + b', 'b - a'][attempt++] ?? 'NaN'
    return createJsonRequestFile('/dev/llm/guesser', async (request) => {
      if ((request as ModelRequest).messages.length > 1) return { content: `tried ${body}`, tokens_used: 5 }
      const input = { path: 'sum.js', content: `export const sum = (a, b) => ${body}\n` }
      return { content: '', tokens_used: 5, tool_calls: [{ id: '1', name: 'write_file', input }] }
    })
  },
}

const kernel = await openKernel({ home, providers: { guesser } })
const spawned = await Promise.all(
  [1, 2, 3].map(() => kernel.spawn({ intent: 'repair sum', provider: 'guesser', vault: 'base' })),
)
await Promise.all(spawned.map(({ pid }) => kernel.wait(pid)))

/** The check of an attempt: does its file compute a sum? */
async function isRight(fork: string): Promise<boolean> {
  const source = await readText(await home.vault(fork), '/sum.js')
  const { sum } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
  return sum(2, 3) === 5
}

for (const { fork } of spawned) {
  if (fork === null) continue
  if (await isRight(fork)) await home.merge(fork, 'base')
  else await home.deleteVault(fork)
}
console.log(await readText(base, '/sum.js'))
assert.equal(await readText(base, '/sum.js'), 'export const sum = (a, b) => a + b\n')

await kernel.close()
await home.close()
await rm(directory, { recursive: true })
