import { describe, expect, it } from 'vitest'
import { contextCaller, guard, zonePolicy } from '../src/access/index.ts'
import { openHome } from '../src/backends/vault/index.ts'
import { createToolRegistry, type ToolRegistry } from '../src/tools/index.ts'
import { append, type FileSystem, MemoryFs, readText } from '../src/vfs/index.ts'

const AGENTS = 100
const names = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`)
const board = 'vfs:///shared/board.md'

const storages = [
  ['in memory', async () => ({ storage: new MemoryFs(), close: async () => {} })],
  [
    'in a vault',
    async () => {
      const home = await openHome()
      return { storage: await home.createVault('zones'), close: () => home.close() }
    },
  ],
] as const

/** Edits as an agent does: reads, edits, and retries whenever another was faster. */
async function persistently(tools: ToolRegistry, edit: object): Promise<number> {
  for (let refusals = 0; ; refusals++) {
    await tools.call('file_read', { path: board })
    const result = await tools.call('file_edit', { path: board, ...edit })
    if (!result.isError) return refusals
    expect(result.error?.code).toBe('ECONFLICT')
  }
}

function agentsOn(storage: FileSystem): {
  fs: FileSystem
  agents: readonly (readonly [string, ToolRegistry])[]
} {
  const fs = guard(storage, [zonePolicy()])
  return { fs, agents: names.map((context) => [context, createToolRegistry({ fs }, { context })] as const) }
}

describe.each(storages)(`${AGENTS} agents at once, with zones %s`, (_, open) => {
  it('lose no line of a board that each of them edits', async () => {
    const { storage, close } = await open()
    await storage.write('/shared/board.md', names.map((name) => `- [ ] ${name}\n`).join(''))
    const { fs, agents } = agentsOn(storage)
    const refusals = await Promise.all(
      agents.map(([name, tools]) =>
        persistently(tools, { operation: 'replace_string', find: `[ ] ${name}\n`, replace: `[x] ${name}\n` }),
      ),
    )
    // Otherwise they did not run concurrently, and this shows nothing.
    expect(Math.max(...refusals)).toBeGreaterThan(0)
    expect(await readText(fs, '/shared/board.md')).toBe(names.map((name) => `- [x] ${name}\n`).join(''))
    await close()
  })

  it('lose no line that each of them inserts', async () => {
    const { storage, close } = await open()
    await storage.write('/shared/board.md', 'the board\n')
    const { fs, agents } = agentsOn(storage)
    await Promise.all(
      agents.map(([name, tools]) =>
        persistently(tools, { operation: 'insert_after', start: 1, content: name }),
      ),
    )
    const [first, ...inserted] = (await readText(fs, '/shared/board.md')).trimEnd().split('\n')
    expect(first).toBe('the board')
    expect(inserted.sort()).toEqual([...names].sort())
    await close()
  })

  it('lose nothing that each of them appends', async () => {
    const { storage, close } = await open()
    const { fs } = agentsOn(storage)
    const lines = names.flatMap((name) => [0, 1, 2].map((round) => `${name} ${round}`))
    await Promise.all(
      lines.map((line) => {
        const [name = ''] = line.split(' ')
        return append(fs, '/shared/log', `${line}\n`, { caller: contextCaller(name) })
      }),
    )
    const found = (await readText(fs, '/shared/log')).trimEnd().split('\n')
    expect(found.toSorted()).toEqual(lines.toSorted())
    await close()
  })
})
