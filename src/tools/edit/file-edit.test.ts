import { describe, expect, it } from 'vitest'
import { MemoryFs, readFile, readText } from '../../vfs/index.ts'
import { createToolRegistry, type ToolRegistry } from '../tool-registry.ts'
import type { ToolResult } from '../tool-result.ts'

const path = 'vfs:///f'

async function edited(content: string | Uint8Array, edit: object): Promise<string> {
  const fs = new MemoryFs({ '/f': content })
  const result = await createToolRegistry({ fs }).call('file_edit', { path, ...edit })
  return result.isError ? result.text : readText(fs, '/f')
}

describe('file_edit', () => {
  it.each<[string, object, string]>([
    ['a\nb\nc\n', { operation: 'replace_lines', start: 2, content: 'x' }, 'a\nx\nc\n'],
    ['a\nb\nc\n', { operation: 'replace_lines', start: 1, end: 2, content: 'x\n' }, 'x\nc\n'],
    ['a\nb\nc\n', { operation: 'replace_lines', start: 3, content: 'x\n\n' }, 'a\nb\nx\n\n'],
    ['a\nb\nc\n', { operation: 'replace_lines', start: 2, content: '' }, 'a\nc\n'],
    ['a\nb', { operation: 'replace_lines', start: 2, content: 'x\ny\n' }, 'a\nx\ny'],
    ['a\nb\n', { operation: 'insert_before', start: 1, content: 'x' }, 'x\na\nb\n'],
    ['a\nb\n', { operation: 'insert_before', start: 2, content: '\n' }, 'a\n\nb\n'],
    ['a\nb', { operation: 'insert_after', start: 2, content: 'x' }, 'a\nb\nx'],
    ['a\nb\n', { operation: 'insert_after', start: 2, content: 'x' }, 'a\nb\nx\n'],
    ['a', { operation: 'insert_after', start: 1, content: 'x' }, 'a\nx'],
    ['a\nb\nc', { operation: 'delete_lines', start: 3 }, 'a\nb'],
    ['a\nb\nc\n', { operation: 'delete_lines', start: 1, end: 3 }, ''],
    ['a\r\nb\r\n', { operation: 'insert_after', start: 1, content: 'x\ny' }, 'a\r\nx\r\ny\r\nb\r\n'],
    ['a\r\nb', { operation: 'insert_after', start: 2, content: 'x' }, 'a\r\nb\r\nx'],
    ['a\nb\n', { operation: 'insert_after', start: 1, content: 'x\r\ny\r\n' }, 'a\nx\ny\nb\n'],
    ['a\r\nb\nc\n', { operation: 'insert_after', start: 1, content: 'x' }, 'a\r\nx\r\nb\nc\n'],
    ['a\r\nb\nc\n', { operation: 'insert_after', start: 2, content: 'x' }, 'a\r\nb\nx\nc\n'],
    ['a\nb\n', { operation: 'replace_string', find: 'a', replace: 'x' }, 'x\nb\n'],
    ['a.b\n', { operation: 'replace_string', find: '.', replace: '$&$1$$' }, 'a$&$1$$b\n'],
    ['aXbXc', { operation: 'replace_string', find: 'X', replace: '', all: true }, 'abc'],
    ['aaa', { operation: 'replace_string', find: 'aa', replace: 'b', all: true }, 'ba'],
    ['a\r\nb\r\n', { operation: 'replace_string', find: 'a\nb', replace: 'x\ny\nz' }, 'x\r\ny\r\nz\r\n'],
    ['a\r\nb\nc\r\n', { operation: 'replace_string', find: '\nb\n', replace: '+' }, 'a+c\r\n'],
    ['a\r\nb\r\n', { operation: 'replace_string', find: '\r\n', replace: '\n', all: true }, 'a\nb\n'],
    ['a\nb\n', { operation: 'replace_string', find: '\n', replace: '\r\n', all: true }, 'a\r\nb\r\n'],
    ['a\r\nb', { operation: 'replace_string', find: 'b', replace: 'b\nc' }, 'a\r\nb\r\nc'],
    ['x\r\nx\n', { operation: 'replace_string', find: 'x', replace: 'a\nb', all: true }, 'a\r\nb\r\na\nb\n'],
  ])('%j %j', async (before, edit, after) => {
    expect(await edited(before, edit)).toBe(after)
  })

  it.each<[string, object, string]>([
    ['a\n', { operation: 'replace_lines', start: 2, content: 'x' }, 'no line 2: the file has 1 line'],
    ['a\nb\n', { operation: 'delete_lines', start: 1, end: 3 }, 'no line 3: the file has 2 lines'],
    ['a\n', { operation: 'insert_after', start: 0, content: 'x' }, "'start': lines are counted from 1"],
    ['a\n', { operation: 'delete_lines', start: 2, end: 1 }, "'end': must not be less than start"],
    ['', { operation: 'insert_before', start: 1, content: 'x' }, 'the file is empty and has no lines'],
    ['a\n', { operation: 'insert_before', start: 1, content: '' }, 'must not be empty for an insert'],
    ['a\n', { operation: 'insert_before', start: 1 }, "'content': insert_before needs it"],
    ['a\n', { operation: 'replace_string', find: 'a' }, "'replace': replace_string needs it"],
    ['a\n', { operation: 'delete_lines', start: 1, find: 'a' }, "'find': delete_lines takes start, end only"],
    ['a\n', { operation: 'replace_string', find: '', replace: 'x' }, "'find': must not be empty"],
    ['a\n', { operation: 'replace_string', find: 'b', replace: 'x' }, 'does not occur in the file'],
    ['a\n', { operation: 'replace_string', find: ' ', replace: 'x' }, 'the file; read it again and copy'],
    [
      'a b\n\tif (a)\n  c\n',
      { operation: 'replace_string', find: '  if (a)\n    c', replace: 'x' },
      'at line 2 is a text that differs only in white space',
    ],
    ['a\nb\na', { operation: 'replace_string', find: 'a', replace: 'x' }, 'occurs 2 times, at lines 1, 3'],
    ['aaa', { operation: 'replace_string', find: 'aa', replace: 'x' }, 'occurs 2 times, at lines 1, 1'],
    ['a\n', { operation: 'replace_string', find: 'a', replace: '\udc00' }, 'not valid Unicode'],
  ])('refuses for %j %j: %s', async (before, edit, message) => {
    expect(await edited(before, edit)).toContain(message)
  })

  it('shows the edited lines with their new numbers', async () => {
    const fs = new MemoryFs({ '/f': 'a\nb\nc\nd\ne\nf\n' })
    const edit = { path, operation: 'replace_lines', start: 4, content: 'x\ny' }
    const { text } = await createToolRegistry({ fs }).call('file_edit', edit)
    expect(text).toBe(`edited ${path}\n     2\tb\n     3\tc\n     4\tx\n     5\ty\n     6\te\n     7\tf`)
  })

  it('counts only lines of the file after a long excerpt', async () => {
    const registry = createToolRegistry({ fs: new MemoryFs({ '/f': 'a\n' }) })
    const content = 'x\n'.repeat(30)
    const { text } = await registry.call('file_edit', { path, operation: 'insert_after', start: 1, content })
    expect(text).toMatch(/… \(11 lines more\)$/)
  })

  it('writes nothing if nothing changes', async () => {
    const fs = new MemoryFs({ '/f': 'a\n' })
    const { mtime } = await fs.stat('/f')
    const edit = { path, operation: 'replace_string', find: 'a', replace: 'a' }
    expect((await createToolRegistry({ fs }).call('file_edit', edit)).text).toContain('nothing to change')
    expect((await fs.stat('/f')).mtime).toEqual(mtime)
  })

  it('refuses invalid text, so that its bytes are kept', async () => {
    const broken = [
      Uint8Array.of(0x61, 0xff, 0x0a),
      Uint8Array.of(0x61, 0x00, 0x0a),
      Uint8Array.of(0xff, 0xfe, 0x61),
      Uint8Array.of(0xff, 0xfe, 0x00, 0xd8),
      Uint8Array.of(0xff, 0xfe, 0x00, 0x00, 0x61, 0x00, 0x00, 0x00),
    ]
    for (const bytes of broken) {
      const fs = new MemoryFs({ '/f': bytes })
      const result = await createToolRegistry({ fs }).call('file_edit', {
        path,
        operation: 'delete_lines',
        start: 1,
      })
      expect(result.text).toContain('EINVAL: not a text file')
      expect(Buffer.from(await readFile(fs, '/f'))).toEqual(Buffer.from(bytes))
    }
  })

  it('creates no file, and names the tool that does', async () => {
    const fs = new MemoryFs()
    const result = await createToolRegistry({ fs }).call('file_edit', {
      path,
      operation: 'delete_lines',
      start: 1,
    })
    expect(result.error?.code).toBe('ENOENT')
    expect(await fs.exists('/f')).toBe(false)
  })
})

describe('file_edit of a large file', () => {
  const SIZE = 3 * 1024 * 1024
  const letters = 'a'.repeat(SIZE)
  const every = { operation: 'replace_string', find: 'a', replace: 'b', all: true }

  // Each of these once took minutes, or exhausted the memory.
  it.each<[string, string, object, (after: string) => boolean]>([
    [
      'newlines',
      '\n'.repeat(SIZE),
      { operation: 'delete_lines', start: 5 },
      (after) => after.length === SIZE - 1,
    ],
    ['one letter', letters, every, (after) => after === 'b'.repeat(SIZE)],
    ['one letter for lines', letters, { ...every, replace: '\n' }, (after) => after === '\n'.repeat(SIZE)],
    [
      'a letter it has often',
      letters,
      { ...every, all: false },
      (after) => after.includes('more than 10 times'),
    ],
    [
      'half of itself',
      letters,
      { ...every, find: 'a'.repeat(SIZE / 2), all: false },
      (after) => after.includes('more than 10 times'),
    ],
    [
      'two kinds of line ends',
      '\r\n\n'.repeat(SIZE / 3),
      { ...every, find: '\n' },
      (after) => after === 'b'.repeat((SIZE / 3) * 2),
    ],
    [
      'what nearly occurs everywhere',
      `${'a'.repeat(999)}c`.repeat(SIZE / 1024),
      { ...every, find: `${'a'.repeat(500)}b${'a'.repeat(500)}` },
      (after) => after.includes('does not occur'),
    ],
    [
      'far too much',
      letters,
      { ...every, replace: 'b'.repeat(1000) },
      (after) => after.includes('EFBIG: the result would exceed 16777216 bytes'),
    ],
  ])('of %s succeeds or is refused quickly', async (_, text, edit, isRight) => {
    expect(isRight(await edited(text, edit))).toBe(true)
  })
})

describe('file_edit', () => {
  it('yields during many replacements, and can be aborted', async () => {
    const text = 'a\n'.repeat(4_000_000)
    const fs = new MemoryFs({ '/f': text })
    const stop = new AbortController()
    const reason = new Error('enough')
    const countdown = (turns: number) =>
      setImmediate(() => (turns === 0 ? stop.abort(reason) : countdown(turns - 1)))
    countdown(3)
    const edit = { path, operation: 'replace_string', find: 'a', replace: 'b', all: true }
    const { signal } = stop
    await expect(createToolRegistry({ fs }).call('file_edit', edit, { signal })).rejects.toBe(reason)
    expect((await readText(fs, '/f')) === text).toBe(true)
  })

  it('never creates a file beyond the limit for edits', async () => {
    const full = 'a'.repeat(16 * 1024 * 1024 - 1)
    const fs = new MemoryFs({ '/f': `${full}\n` })
    const tools = createToolRegistry({ fs })
    for (const edit of [
      { operation: 'replace_string', find: '\n', replace: 'ab\n' },
      { operation: 'insert_after', start: 1, content: 'x' },
    ]) {
      const refused = await tools.call('file_edit', { path, ...edit })
      expect(refused.error?.code).toBe('EFBIG')
    }
    const { size } = await fs.stat('/f')
    expect(size).toBe(full.length + 1)
  })

  it.each([
    ['utf-8', Buffer.from('a😀b\n')],
    ['utf-16', Buffer.from('\ufeffa😀b\n', 'utf16le')],
  ])('does not match half a character in %s', async (_, content) => {
    const fs = new MemoryFs({ '/f': content })
    for (const find of ['\ud83d', '\ude00', 'a\ud83d']) {
      const edit = { path, operation: 'replace_string', find, replace: 'x' }
      const { text } = await createToolRegistry({ fs }).call('file_edit', edit)
      expect(text).toContain("EINVAL: 'find' is not valid Unicode")
    }
    expect(Buffer.from(await readFile(fs, '/f'))).toEqual(content)
  })

  it.each([
    { operation: 'replace_string', find: 'a', replace: 'x\0' },
    { operation: 'replace_string', find: 'a\0', replace: 'x' },
    { operation: 'insert_after', start: 1, content: '\0' },
  ])('refuses a NUL, which no text file has: %j', async (edit) => {
    expect(await edited('a\n', edit)).toMatch(/^EINVAL: '\w+' contains a NUL character/)
  })

  it('cuts a long line between characters', async () => {
    const fs = new MemoryFs({ '/f': `x${'😀'.repeat(1000)}\ny\n` })
    const edit = { path, operation: 'replace_string', find: 'y', replace: 'z' }
    const { text } = await createToolRegistry({ fs }).call('file_edit', edit)
    expect(text).toContain('😀 …')
    expect(text.isWellFormed()).toBe(true)
  })
})

describe('write_file on a file that changed since it was read', () => {
  it('names the change that it replaces, once', async () => {
    const fs = new MemoryFs({ '/f': 'one' })
    const anna = createToolRegistry({ fs }, { context: 'anna' })
    const ben = createToolRegistry({ fs }, { context: 'ben' })
    await anna.call('file_read', { path })
    expect((await anna.call('write_file', { path, content: 'two' })).text).not.toContain('changed')
    await ben.call('write_file', { path, content: 'of ben' })
    const replaced = await anna.call('write_file', { path, content: 'three' })
    expect(replaced).toMatchObject({ isError: false })
    expect(replaced.text).toMatch(/^replaced .*\nIt had changed since you read it: at \S+ by ben\./)
    expect((await anna.call('write_file', { path, content: 'four' })).text).not.toContain('changed')
  })
})

describe('file_edit of a file that changed since it was read', () => {
  const change = { path, operation: 'replace_string', find: 'b', replace: 'x' }
  const fs = new MemoryFs()
  const anna = createToolRegistry({ fs }, { context: 'anna' })
  const ben = createToolRegistry({ fs }, { context: 'ben' })

  async function annaReadsAndBenWrites(look: (tools: ToolRegistry) => Promise<ToolResult>): Promise<void> {
    await fs.write('/f', 'a\nb\n')
    await look(anna)
    await ben.call('write_file', { path, content: 'a\nb\nc\n' })
  }

  it.each<[string, object]>([
    ['file_read', {}],
    ['file_head', { lines: 1 }],
    ['file_tail', { lines: 1 }],
    ['file_lines', { start: 1, end: 1 }],
    ['file_grep', { pattern: 'a' }],
  ])('is refused after %s, naming both versions, until it is read again', async (name, args) => {
    const look = (tools: ToolRegistry) => tools.call(name, { path, ...args })
    await annaReadsAndBenWrites(look)
    const refused = await anna.call('file_edit', change)
    expect(refused.error?.code).toBe('ECONFLICT')
    // The first digits of the hashes of 'a\nb\n' and 'a\nb\nc\n'.
    expect(refused.text).toMatch(/you read version 911169ddaaf1 at .* now at 880553fca8fc, changed by ben at/)
    expect(await readText(fs, '/f')).toBe('a\nb\nc\n')
    await look(anna)
    expect((await anna.call('file_edit', change)).isError).toBe(false)
  })

  it('is refused to one session of a context if another changed it', async () => {
    const [one, other] = [
      createToolRegistry({ fs }, { context: 'anna' }),
      createToolRegistry({ fs }, { context: 'anna' }),
    ]
    await fs.write('/f', 'a\nb\n')
    await one.call('file_read', { path })
    await other.call('file_read', { path })
    await other.call('file_edit', { ...change, find: 'a' })
    const refused = await one.call('file_edit', change)
    expect(refused.error?.code).toBe('ECONFLICT')
    expect(refused.text).toContain('changed by another session of anna at')
    await other.call('file_read', { path })
    expect((await one.call('file_edit', change)).error?.code).toBe('ECONFLICT')
  })

  it('is not refused after its own change', async () => {
    await fs.write('/f', 'a\nb\n')
    await anna.call('file_read', { path })
    await anna.call('file_edit', { ...change, find: 'a' })
    expect((await anna.call('file_edit', change)).isError).toBe(false)
    await anna.call('write_file', { path, content: 'b' })
    expect((await anna.call('file_edit', change)).isError).toBe(false)
    await fs.write('/g', 'b')
    await anna.call('vfs_copy', { src: 'vfs:///g', dst: path, overwrite: true })
    expect((await anna.call('file_edit', change)).isError).toBe(false)
    await anna.call('vfs_move', { src: 'vfs:///g', dst: path, overwrite: true })
    expect((await anna.call('file_edit', change)).isError).toBe(false)
  })

  it('is not refused to a reader without an earlier read, nor if the content is the same', async () => {
    await annaReadsAndBenWrites((tools) => tools.call('file_read', { path }))
    expect((await createToolRegistry({ fs }, { context: 'carla' }).call('file_edit', change)).isError).toBe(
      false,
    )
    await fs.write('/f', 'a\nb\n')
    expect((await anna.call('file_edit', change)).isError).toBe(false)
  })
})
