import { describe, expect, it } from 'vitest'
import { MemoryFs, readText } from '../../vfs/index.ts'
import { createToolRegistry } from '../tool-registry.ts'

const path = 'vfs:///f'

describe('several edits of a file in one response', () => {
  const names = Array.from({ length: 20 }, (_, index) => `name-${String(index).padStart(2, '0')}`)
  const replacement = (find: string) => ({ path, operation: 'replace_string', find, replace: `new ${find}` })

  it('all succeed if they name the text', async () => {
    const fs = new MemoryFs({ '/f': names.join('\n') })
    const tools = createToolRegistry({ fs }, { context: 'anna' })
    await tools.call('file_read', { path })
    const results = await Promise.all(names.map((name) => tools.call('file_edit', replacement(name))))
    expect(results.filter(({ isError }) => isError)).toEqual([])
    expect(await readText(fs, '/f')).toBe(names.map((name) => `new ${name}`).join('\n'))
  })

  it('continue after one that fails', async () => {
    const fs = new MemoryFs({ '/f': 'a\nb\n' })
    const tools = createToolRegistry({ fs }, { context: 'anna' })
    const edits = [replacement('none'), replacement('b')].map((edit) => tools.call('file_edit', edit))
    expect((await Promise.all(edits)).map(({ isError }) => isError)).toEqual([true, false])
    expect(await readText(fs, '/f')).toBe('a\nnew b\n')
  })

  it.each([true, false])('are refused if line numbers may have changed, read before: %j', async (isRead) => {
    const fs = new MemoryFs({ '/f': 'a\nb\nc\n' })
    const tools = createToolRegistry({ fs }, { context: 'anna' })
    if (isRead) await tools.call('file_read', { path })
    const [first, second] = await Promise.all([
      tools.call('file_edit', { path, operation: 'insert_before', start: 1, content: 'new' }),
      tools.call('file_edit', { path, operation: 'delete_lines', start: 2, end: 2 }),
    ])
    expect(first.isError).toBe(false)
    expect(second.text).toMatch(/^ECONFLICT: another call of yours changed the file first/)
    expect(await readText(fs, '/f')).toBe('new\na\nb\nc\n')
  })
})
