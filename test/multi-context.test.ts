import { describe, expect, it } from 'vitest'
import { asSystem, guard, zonePolicy } from '../src/access/index.ts'
import { openHome } from '../src/backends/vault/index.ts'
import { createToolRegistry, OutputCache } from '../src/tools/index.ts'
import { type FileSystem, MemoryFs, readText } from '../src/vfs/index.ts'

/** A namespace with zones, as its contexts and the system see it. */
function zonesOn(storage: FileSystem) {
  const fs = guard(storage, [zonePolicy()])
  const cache = new OutputCache(fs)
  const anna = createToolRegistry({ fs, cache }, { context: 'anna' })
  const ben = createToolRegistry({ fs, cache }, { context: 'ben' })
  return { fs, anna, ben }
}

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

describe.each(storages)('two contexts and the system, with zones %s', (_, open) => {
  it('work side by side, are confined to their zones, and see changes of the others', async () => {
    const { storage, close } = await open()
    const { fs, anna, ben } = zonesOn(storage)

    // The system creates files that everybody reads and nobody changes.
    await fs.write('/sys/rules.md', 'Be kind.\n', {}, asSystem)
    await fs.write('/motd', 'Welcome.\n', {}, asSystem)
    expect((await anna.call('file_head', { path: 'vfs:///sys/rules.md' })).text).toBe('Be kind.')
    expect((await ben.call('file_head', { path: 'vfs:///motd' })).text).toBe('Welcome.')

    // Each writes at home; the other may read, and learns where it may write.
    await anna.call('write_file', { path: 'vfs:///home/anna/plan.md', content: 'secret plan\n' })
    expect((await ben.call('file_head', { path: 'vfs:///home/anna/plan.md' })).text).toBe('secret plan')
    const denied = await ben.call('write_file', { path: 'vfs:///home/anna/plan.md', content: 'mine\n' })
    expect(denied.error).toMatchObject({ code: 'EACCES', path: 'vfs:///home/anna/plan.md' })
    for (const part of ['ben', '/shared', '/home/ben']) expect(denied.text).toContain(part)

    // Only the system changes the rest: the root, /sys, and names similar to a zone.
    for (const path of ['motd', 'sys/rules.md', 'sys/tool_cache/ben/fake', 'sharedx/a', 'home/ben2/a']) {
      const refused = await ben.call('write_file', { path: `vfs:///${path}`, content: 'x' })
      expect([path, refused.error?.code]).toEqual([path, 'EACCES'])
    }

    // A copy needs write access to its target only, a move to both ends.
    const plan = 'vfs:///home/anna/plan.md'
    expect((await ben.call('vfs_copy', { src: plan, dst: 'vfs:///home/ben/plan.md' })).isError).toBe(false)
    const moved = await ben.call('vfs_move', { src: plan, dst: 'vfs:///home/ben/stolen.md' })
    expect(moved.error?.code).toBe('EACCES')
    expect(await readText(fs, '/home/anna/plan.md')).toBe('secret plan\n')
    expect(await fs.exists('/home/ben/stolen.md')).toBe(false)
    for (const root of ['shared', 'home', 'home/ben', 'sys']) {
      const removed = await ben.call('vfs_delete', { path: `vfs:///${root}`, recursive: true })
      expect(removed.isError).toBe(true)
    }

    // They share a board. An edit of a changed file is refused, read again, and loses nothing.
    const board = 'vfs:///shared/board.md'
    await anna.call('write_file', { path: board, content: '- [ ] write\n- [ ] test\n' })
    await ben.call('file_read', { path: board })
    await anna.call('file_edit', {
      path: board,
      operation: 'replace_lines',
      start: 1,
      content: '- [x] write',
    })
    const done = { path: board, operation: 'replace_lines', start: 2, content: '- [x] test' }
    const stale = await ben.call('file_edit', done)
    expect(stale.error?.code).toBe('ECONFLICT')
    expect(stale.text).toContain('changed by anna')
    await ben.call('file_read', { path: board })
    expect((await ben.call('file_edit', done)).isError).toBe(false)
    expect(await readText(fs, '/shared/board.md')).toBe('- [x] write\n- [x] test\n')

    // The system caches a long output under the caller's name; the other context reads it, and cannot change it.
    const log = Array.from(
      { length: 500 },
      (_unused, index) => `${index}: ${index === 321 ? 'error' : 'fine'}`,
    )
    await anna.call('write_file', { path: 'vfs:///home/anna/log', content: log.join('\n') })
    const search = { path: 'vfs:///home/anna/log', pattern: '\\d' }
    const { text, cached } = await anna.call('file_grep', search)
    const uri = cached?.uri ?? ''
    expect(uri).toMatch(/^vfs:\/\/\/sys\/tool_cache\/anna\/file_grep_/)
    expect(text).toContain(uri)
    const look = await ben.call('file_grep', {
      path: uri,
      pattern: 'error',
      context_before: 0,
      context_after: 0,
    })
    expect(look.text).toBe('1 matching line\n> 323: > 322: 321: error')
    const tampered = { path: uri, operation: 'replace_string', find: 'error', replace: 'fine' }
    for (const tools of [anna, ben]) {
      expect((await tools.call('file_edit', tampered)).error?.code).toBe('EACCES')
      expect((await tools.call('vfs_delete', { path: uri })).error?.code).toBe('EACCES')
    }
    await close()
  })
})
