import { describe, expect, it } from 'vitest'
import { MemoryFs } from '../memory/memory-fs.ts'
import { readFile, readText } from './file-content.ts'
import { updateText } from './update-text.ts'

describe('updateText', () => {
  it('loses none of many concurrent changes', async () => {
    const fs = new MemoryFs({ '/log': '' })
    const names = Array.from({ length: 20 }, (_, index) => `${index}`)
    await Promise.all(names.map((name) => updateText(fs, '/log', (text) => `${text}${name}\n`)))
    const lines = (await readText(fs, '/log')).trimEnd().split('\n')
    expect(lines.toSorted()).toEqual(names.toSorted())
  })

  it('keeps a byte order mark, and leaves a file that is not text unchanged', async () => {
    const latin = Uint8Array.of(0x63, 0x61, 0x66, 0xe9)
    const fs = new MemoryFs({ '/marked': '\ufeffa', '/latin': latin })
    await updateText(fs, '/marked', (text) => `${text}b`)
    expect(await readText(fs, '/marked')).toBe('\ufeffab')
    await expect(updateText(fs, '/latin', () => '')).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await readFile(fs, '/latin')).toEqual(latin)
  })

  it('leaves the file unchanged when the callback throws', async () => {
    const fs = new MemoryFs({ '/a': 'one' })
    const refusal = new Error('not this one')
    const refused = updateText(fs, '/a', () => {
      throw refusal
    })
    await expect(refused).rejects.toBe(refusal)
    expect(await readText(fs, '/a')).toBe('one')
  })
})
