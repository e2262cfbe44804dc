import { expect, it } from 'vitest'
import { unpack } from '../src/backends/archive/index.ts'
import { fromStorage, type StorageBackend } from '../src/backends/storage/index.ts'
import { MemoryFs } from '../src/vfs/index.ts'

const unused = async () => {
  throw new Error('unpacking does not need this')
}
const UNUSED: StorageBackend = {
  read: unused,
  write: unused,
  append: unused,
  delete: unused,
  list: unused,
  exists: unused,
  mkdir: unused,
  copy: unused,
  rename: unused,
  metadata: unused,
}

it('unpacks deep directories with calls linear in the levels', async () => {
  const countCalls = async (levels: number) => {
    const files = new MemoryFs()
    let calls = 0
    const storage: StorageBackend = {
      ...UNUSED,
      write: (path, bytes) => files.write(path, bytes),
      mkdir: (path) => files.mkdir(path),
      metadata: async (path) => {
        calls++
        const { type, size } = await files.stat(path)
        return { kind: type === 'directory' ? 'directory' : 'file', size }
      },
    }
    const path = `${'/d'.repeat(levels - 1)}/f`
    await unpack(new MemoryFs({ [path]: 'x' }), fromStorage(storage))
    expect((await files.stat(path)).size).toBe(1)
    return calls
  }
  const [few, many] = [await countCalls(64), await countCalls(256)]
  expect(many / few).toBeLessThan(4.1)
})
