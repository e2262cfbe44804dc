import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VfsError } from '../error.ts'
import { WriteBuffer, type WriteBufferStore } from './write-buffer.ts'

type Edit = { readonly at: number; readonly text: string } | { readonly size: number }

const edits = fc.array(
  fc.oneof(
    fc.record({ at: fc.nat(40), text: fc.stringMatching(/^[a-z]{0,12}$/) }),
    fc.record({ size: fc.nat(50) }),
  ),
  { maxLength: 8 },
)
const content = fc.stringMatching(/^[A-Z]{0,40}$/)

/** A file that others may replace before any write. */
class Place implements WriteBufferStore {
  content: Buffer | null
  readonly #others: string[]

  constructor(first: string, others: readonly string[] = []) {
    this.content = Buffer.from(first)
    this.#others = [...others]
  }

  async write(bytes: Uint8Array, ifMatch?: string | null): Promise<void> {
    const other = this.#others.shift()
    if (other !== undefined) this.content = Buffer.from(other)
    const hash = this.content && createHash('sha256').update(this.content).digest('hex')
    if (ifMatch !== undefined && ifMatch !== hash) throw new VfsError('ECONFLICT', '/f')
    this.content = Buffer.from(bytes)
  }

  async read(): Promise<Uint8Array | null> {
    return this.content && new Uint8Array(this.content)
  }
}

describe('a write buffer', () => {
  it('reads like a file that was changed in place', () => {
    const property = fc.property(content, edits, (first, all) => {
      const draft = WriteBuffer.from(new Uint8Array(Buffer.from(first)))
      apply(draft, all)
      const expected = edited(Buffer.from(first), all)
      expect(draft.size).toBe(expected.length)
      expect(Buffer.from(draft.read(0, 1000))).toEqual(expected)
      expect(Buffer.from(draft.read(3, 5))).toEqual(expected.subarray(3, 8))
    })
    fc.assert(property)
  })

  it('applies its edits to the content of concurrent writers, however often they come first', async () => {
    const property = fc.asyncProperty(
      content,
      edits,
      fc.array(content, { maxLength: 3 }),
      async (first, all, others) => {
        const place = new Place(first, others)
        const draft = WriteBuffer.from(new Uint8Array(Buffer.from(first)))
        apply(draft, all)
        const isWhole = all.some((edit) => 'size' in edit && edit.size === 0)
        await draft.store(place)
        if (all.length === 0) expect(place.content?.toString()).toBe(first)
        else if (isWhole) expect(place.content).toEqual(edited(Buffer.from(first), all))
        else expect(candidates(first, others, all)).toContainEqual(place.content)
        expect(draft.isDirty).toBe(false)
      },
    )
    await fc.assert(property)
  })

  it('stores only later changes after a store', async () => {
    const place = new Place('abc')
    const draft = WriteBuffer.from(new Uint8Array(Buffer.from('abc')))
    draft.write(0, Buffer.from('X'))
    await draft.store(place)
    place.content = Buffer.from('123')
    draft.write(1, Buffer.from('Y'))
    await draft.store(place)
    expect(place.content.toString()).toBe('1Y3')
  })

  it('restores a file that another writer removed', async () => {
    const place = new Place('abc')
    const draft = WriteBuffer.from(new Uint8Array(Buffer.from('abc')))
    draft.write(0, Buffer.from('X'))
    place.content = null
    await draft.store(place)
    expect(Buffer.from(place.content ?? '').toString()).toBe('Xbc')
  })

  it('stores that a file is empty, and stays dirty when that fails', async () => {
    const draft = WriteBuffer.createEmpty()
    const failing: WriteBufferStore = {
      write: () => Promise.reject(new VfsError('ENOSPC', '/f')),
      read: () => Promise.resolve(null),
    }
    await expect(draft.store(failing)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(draft.isDirty).toBe(true)
    const place = new Place('old')
    await draft.store(place)
    expect(place.content?.length).toBe(0)
  })

  it('throws EFBIG beyond the memory limit', () => {
    expect(() => WriteBuffer.createEmpty().truncate(2 ** 40)).toThrow('EFBIG')
    expect(() => WriteBuffer.createEmpty().write(2 ** 40, Buffer.from('x'))).toThrow('EFBIG')
  })
})

function apply(draft: WriteBuffer, all: readonly Edit[]): void {
  for (const edit of all) {
    if ('size' in edit) draft.truncate(edit.size)
    else draft.write(edit.at, new Uint8Array(Buffer.from(edit.text)))
  }
}

/** The same on a buffer, in the plainest way. */
function edited(first: Buffer, all: readonly Edit[]): Buffer {
  return all.reduce((before, edit) => {
    const end = 'size' in edit ? edit.size : Math.max(before.length, edit.at + edit.text.length)
    const after = Buffer.alloc(end)
    before.copy(after)
    if (!('size' in edit)) after.write(edit.text, edit.at)
    return after
  }, first)
}

/** Whoever came last before the write that went through is what the edits were made on. */
function candidates(first: string, others: readonly string[], all: readonly Edit[]): Buffer[] {
  return [first, ...others].map((text) => edited(Buffer.from(text), all))
}
