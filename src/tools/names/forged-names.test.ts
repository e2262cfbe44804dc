import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HostFs } from '../../backends/host/index.ts'
import { MemoryFs, type PathChange } from '../../vfs/index.ts'
import { HostFiles } from '../host/index.ts'
import { createToolRegistry } from '../tool-registry.ts'
import { fromUri } from '../uri.ts'
import type { Workspace } from '../workspace.ts'

/** Characters that could imitate another line, or control a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/

const FORGED = 'a\nb.txt\t999\u001b[2J\u0085\u2028\u202e'

describe('a name that imitates lines of output', () => {
  it.each([
    ['vfs_list', { path: 'vfs:///d' }, 1],
    ['file_glob', { path: 'vfs:///d', pattern: '*' }, 1],
    ['file_grep', { path: 'vfs:///d', pattern: 'text' }, 3],
  ])('is one line of %s', async (name, args, lines) => {
    const tools = createToolRegistry({ fs: new MemoryFs({ [`/d/${FORGED}`]: 'text' }) })
    const { text } = await tools.call(name, args)
    expect(text.split('\n')).toHaveLength(lines)
    expect(text).not.toMatch(STEERING)
    expect(text).toContain('a%0Ab.txt%09999%1B[2J')
  })

  it('is listed as in its URI', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(name, async (given) => {
        fc.pre(!/[/\0]/.test(given) && given.isWellFormed() && given !== '.' && given !== '..')
        const tools = createToolRegistry({ fs: new MemoryFs({ [`/d/${given}`]: '' }) })
        const { text } = await tools.call('vfs_list', { path: 'vfs:///d', sizes: true })
        const [listed = '', size] = text.split('\t')
        expect([fromUri(`vfs:///d/${listed}`), size]).toEqual([`/d/${given}`, '0'])
      }),
    )
  })

  it('is one line of an error and of a link target', async () => {
    const fs = new MemoryFs()
    await fs.symlink(`/${FORGED}`, '/link')
    const tools = createToolRegistry({ fs })
    const info = await tools.call('vfs_info', { path: 'vfs:///link' })
    expect(info.text).not.toMatch(STEERING)
    expect(info.text).toContain('target: /a%0Ab.txt')
    for (const path of [`vfs:///${FORGED}`, `vfs://${FORGED}`, FORGED]) {
      const { text } = await tools.call('file_read', { path })
      expect(text).toMatch(/^E[A-Z]+: .*$/)
      expect(text).not.toMatch(STEERING)
    }
  })

  it('is one line of a search on this machine', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coppice-forged-'))
    writeFileSync(join(directory, 'a\nb\u001b[2J'), 'text')
    const host = new HostFiles({ allow: [directory], open: (path) => new HostFs(path) })
    const tools = createToolRegistry({ fs: new MemoryFs(), host })
    const found = await tools.call('file_glob', { path: directory, pattern: '*' })
    expect(found.text).toBe(join(directory, 'a%0Ab%1B[2J'))
    await host.close()
    rmSync(directory, { recursive: true })
  })

  it("is one line of the workspace's log", async () => {
    const time = new Date(0)
    const stat = { type: 'file', size: 0, mtime: time, mode: null } as const
    const change: PathChange = {
      kind: 'renamed',
      path: `/workspace/${FORGED}`,
      from: '/workspace/\n',
      after: stat,
    }
    const workspace: Workspace = {
      name: 'v',
      path: '/workspace',
      fork: async (name) => ({ name, time }),
      checkpoint: async (name) => ({ name, time }),
      checkpoints: async () => [{ name: FORGED, time }],
      async *diff() {
        yield change
      },
      async *patch() {},
      restore: async () => undefined,
      merge: async () => [change],
      async *log() {
        yield { seq: 1, time, caller: 'anna', op: 'write', path: change.path }
      },
    }
    const tools = createToolRegistry({ fs: new MemoryFs(), workspace })
    const lines = async (name: string, args: object) => {
      const { text, isError } = await tools.call(name, args)
      expect(isError).toBe(false)
      expect(text).not.toMatch(STEERING)
      return text.split('\n').length
    }
    expect(await lines('workspace_log', {})).toBe(2)
    expect(await lines('workspace_diff', { format: 'files' })).toBe(1)
    expect(await lines('workspace_merge', { fork: FORGED })).toBe(1)
    expect(await lines('workspace_checkpoint', { name: FORGED })).toBe(1)
    expect(await lines('workspace_restore', { name: FORGED })).toBe(1)
    expect(await lines('workspace_fork', { name: FORGED, at: FORGED })).toBe(1)
  })
})
