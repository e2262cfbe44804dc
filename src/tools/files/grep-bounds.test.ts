import { describe, expect, it } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import { type FileSystem, MemoryFs, OverlayFs } from '../../vfs/index.ts'
import { createToolRegistry } from '../tool-registry.ts'

/** Makes the engine exceed its state cache on random letters. */
const EVIL = 'a[ab]{100}[cd]'

let state = 7

function letters(count: number): string {
  const line = Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state > 0x3fffffff ? 'a' : 'b'
  })
  return line.join('')
}

const evilLines = Array.from({ length: 2000 }, () => letters(500)).join('\n')

async function vaultOf(content: string): Promise<FileSystem> {
  const home = await openHome()
  const vault = await home.createVault('v')
  await vault.write('/d/f', content)
  return vault
}

const subjects: readonly (readonly [string, (content: string) => Promise<FileSystem>])[] = [
  ['in memory', async (content) => new MemoryFs({ '/d/f': content })],
  ['of a vault', vaultOf],
  [
    'of a file system that cannot search',
    async (content) => new OverlayFs(new MemoryFs({ '/d/f': content })),
  ],
]

describe.each(subjects)('file_grep %s', (_, make) => {
  it.each(['vfs:///d/f', 'vfs:///d'])('yields and can be aborted, on %s', async (path) => {
    const tools = createToolRegistry({ fs: await make(evilLines) })
    const stop = new AbortController()
    const reason = new Error('enough')
    // Runs only if the search, which takes many seconds, yields repeatedly.
    const countdown = (turns: number) =>
      setImmediate(() => (turns === 0 ? stop.abort(reason) : countdown(turns - 1)))
    countdown(10)
    const call = tools.call('file_grep', { path, pattern: EVIL }, { signal: stop.signal })
    await expect(call).rejects.toBe(reason)
  })

  it.each(['vfs:///d/f', 'vfs:///d'])(
    'skips a line that takes too long, and says so, on %s',
    async (path) => {
      const tools = createToolRegistry({ fs: await make(`${letters(400_000)}\nabc\n`) })
      const { text } = await tools.call('file_grep', { path, pattern: `abc|${EVIL}` })
      expect(text).toContain('> 2: abc')
      expect(text).toMatch(/\(1 line too long to be searched to the end with this pattern; .*\)$/)
    },
  )

  it.each(['vfs:///d/f', 'vfs:///d'])('searches a long line to its end, on %s', async (path) => {
    const tools = createToolRegistry({ fs: await make(`${'x y '.repeat(200_000)}needle-17 end`) })
    const find = async (pattern: string) => (await tools.call('file_grep', { path, pattern })).text
    expect(await find('needle-\\d+')).toMatch(/^1 matching line/)
    expect(await find('needle-\\d+x')).toMatch(/^no line matches '[^']+' in \S+$/)
    // A part of a line does not reveal where the line begins or ends.
    expect(await find('^needle')).toContain('1 line too long')
    expect(await find('[^ ]-17')).toMatch(/^1 matching line/)
  })

  it.each(['vfs:///d/f', 'vfs:///d'])('finds a long plain text, on %s', async (path) => {
    const words = 'all work and no play makes a dull line '.repeat(10)
    const tools = createToolRegistry({ fs: await make(`first\nand ${words}.\n${words.slice(1, -3)}\n`) })
    const found = await tools.call('file_grep', { path, pattern: words })
    expect(found.text).toMatch(/^1 matching line[^>]*> 2: and all work/)
  })
})

describe('file_grep', () => {
  it('finds a match across the pieces of a long line', async () => {
    const fs = new MemoryFs()
    const tools = createToolRegistry({ fs })
    for (let before = 0; before < 200_000; before += 7000) {
      await fs.write('/f', `${' '.repeat(before)}a${'-'.repeat(30_000)}z${' '.repeat(100_000)}`)
      const { text } = await tools.call('file_grep', { path: 'vfs:///f', pattern: 'a[^z]*z' })
      expect(text).toMatch(/^1 matching line/)
    }
  })

  it('refuses a pattern beyond the limit', async () => {
    const tools = createToolRegistry({ fs: new MemoryFs({ '/f': 'x' }) })
    const { text } = await tools.call('file_grep', {
      path: 'vfs:///f',
      pattern: `a${'[ab]{1000}'.repeat(15)}c`,
    })
    expect(text).toContain('it is too large; use fewer or smaller repetitions')
  })

  it('repeats only the beginning of a long pattern, so that the message is not cached', async () => {
    const tools = createToolRegistry(new MemoryFs({ '/f': 'x' }))
    for (const pattern of ['y'.repeat(1900), `${'😀'.repeat(900)}`]) {
      const { text, cached } = await tools.call('file_grep', { path: 'vfs:///f', pattern })
      expect(cached).toBeUndefined()
      expect(text.length).toBeLessThan(400)
      expect(text.isWellFormed()).toBe(true)
    }
  })

  it('cuts a long line between characters', async () => {
    const tools = createToolRegistry(new MemoryFs({ '/f': `x${'😀'.repeat(1000)}` }))
    const { text } = await tools.call('file_grep', { path: 'vfs:///f', pattern: 'x' })
    expect(text).toContain('😀 … (1001 characters more)')
    expect(text.isWellFormed()).toBe(true)
  })
})
