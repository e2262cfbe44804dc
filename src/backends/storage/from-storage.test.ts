import { constants } from 'node:fs'
import {
  access,
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fileSystemSuite } from '../../conformance/index.ts'
import { basename, dirname, MountTable, OverlayFs, readText } from '../../vfs/index.ts'
import { fromStorage, type StorageBackend, type StorageEntry, type StorageMetadata } from './index.ts'

const scratch = await mkdtemp(join(tmpdir(), 'coppice-storage-'))
afterAll(() => rm(scratch, { recursive: true, force: true }))

/** Bytes by path; null is a directory. Renames nothing. */
class MapStorage implements StorageBackend {
  readonly stored = new Map<string, Uint8Array | null>()
  /** How many changes are under way, and the most there ever were. */
  load: { now: number; most: number } = { now: 0, most: 0 }

  async read(path: string): Promise<Uint8Array> {
    return this.#get(path) ?? new Uint8Array()
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#change(() => this.stored.set(path, bytes))
  }

  append(path: string, bytes: Uint8Array): Promise<void> {
    const old = this.stored.get(path) ?? new Uint8Array()
    return this.#change(() => this.stored.set(path, Buffer.concat([old, bytes])))
  }

  delete(path: string): Promise<void> {
    return this.#change(() => this.stored.delete(path))
  }

  async list(path: string): Promise<StorageEntry[]> {
    const inside = [...this.stored].filter(([key]) => dirname(key) === path)
    return inside.map(([key, bytes]) => ({ name: basename(key), kind: kindOf(bytes) }))
  }

  async exists(path: string): Promise<boolean> {
    return this.stored.has(path)
  }

  mkdir(path: string): Promise<void> {
    return this.#change(() => this.stored.set(path, null))
  }

  copy(from: string, to: string): Promise<void> {
    return this.#change(() => this.stored.set(to, this.#get(from)))
  }

  async rename(): Promise<void> {
    throw Object.assign(new Error('keys cannot be renamed'), { code: 'ENOTSUP' })
  }

  async metadata(path: string): Promise<StorageMetadata> {
    const bytes = this.#get(path)
    return { kind: kindOf(bytes), size: bytes?.length ?? 0 }
  }

  #get(path: string): Uint8Array | null {
    const bytes = this.stored.get(path)
    if (bytes === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return bytes
  }

  /** A change that is only done some turns of the event loop later, as that of a real storage. */
  async #change(change: () => unknown): Promise<void> {
    this.load.now++
    this.load.most = Math.max(this.load.most, this.load.now)
    await new Promise(setImmediate)
    change()
    this.load.now--
  }
}

function kindOf(bytes: Uint8Array | null): 'file' | 'directory' {
  return bytes === null ? 'directory' : 'file'
}

/** A directory of this machine, as one would write it in ten minutes. */
async function directoryStorage(): Promise<StorageBackend> {
  const root = await mkdtemp(join(scratch, 'root-'))
  const spare = join(await mkdtemp(join(scratch, 'spare-')), 'new')
  const at = (path: string) => join(root, path)
  const metadata = async (path: string): Promise<StorageMetadata> => {
    const found = await stat(at(path))
    return { kind: found.isFile() ? 'file' : 'directory', size: found.size, modified: found.mtime }
  }
  return {
    metadata,
    read: (path) => readFile(at(path)),
    write: async (path, bytes) => {
      await writeFile(spare, bytes)
      await rename(spare, at(path))
    },
    append: (path, bytes) => appendFile(at(path), bytes),
    delete: async (path) => ((await metadata(path)).kind === 'file' ? unlink(at(path)) : rmdir(at(path))),
    list: async (path) =>
      (await readdir(at(path), { withFileTypes: true })).map((entry) => ({
        name: entry.name,
        kind: entry.isFile() ? 'file' : 'directory',
      })),
    exists: async (path) =>
      access(at(path)).then(
        () => true,
        () => false,
      ),
    mkdir: (path) => mkdir(at(path)),
    copy: (from, to) => copyFile(at(from), at(to), constants.COPYFILE_EXCL),
    rename: (from, to) => rename(at(from), at(to)),
  }
}

const runner = { describe, it }

fileSystemSuite(runner, { name: 'a map as storage', create: () => fromStorage(new MapStorage()), runs: 20 })
fileSystemSuite(runner, {
  name: 'a directory as storage',
  create: async () => fromStorage(await directoryStorage()),
  runs: 10,
})
fileSystemSuite(runner, {
  name: 'a mounted storage',
  create: () => new MountTable({ '/': fromStorage(new MapStorage()) }),
  runs: 5,
})
fileSystemSuite(runner, {
  name: 'an overlay on a storage',
  create: async (seed) => {
    const fs = fromStorage(new MapStorage())
    for (const [path, content] of Object.entries(seed)) await fs.write(path, content)
    return new OverlayFs(fs)
  },
  runs: 5,
})

describe('fromStorage', () => {
  it('makes one change at a time, so that parallel writes below a new directory all succeed', async () => {
    const storage = new MapStorage()
    const fs = fromStorage(storage)
    const names = Array.from({ length: 20 }, (_, index) => `/new/${index % 2}/${index}`)
    await Promise.all(names.map((name) => fs.write(name, name)))
    expect(storage.load.most).toBe(1)
    expect(await Promise.all(names.map((name) => readText(fs, name)))).toEqual(names)
  })

  it('leaves no file without its directory when one is removed while it is written to', async () => {
    const storage = new MapStorage()
    const fs = fromStorage(storage)
    await fs.write('/a/b', 'x')
    await Promise.all([fs.remove('/a', { recursive: true }), fs.write('/a/c', 'y')])
    expect([...storage.stored.keys()]).toEqual(['/a', '/a/c'])
  })

  it.each(['..', '.', '', 'a/b', '/a'])(
    'does not follow what is no name, though a storage lists %j',
    async (name) => {
      const storage = new MapStorage()
      const fs = fromStorage(storage)
      await fs.write('/keep', 'x')
      await fs.mkdir('/dir')
      storage.list = async () => [{ name, kind: 'directory' }]
      await expect(Array.fromAsync(fs.readdir('/dir'))).rejects.toMatchObject({ code: 'EIO', path: '/dir' })
      await expect(fs.remove('/dir', { recursive: true })).rejects.toMatchObject({ code: 'EIO' })
      await expect(fs.rename('/dir', '/new')).rejects.toMatchObject({ code: 'EIO' })
      expect([...storage.stored.keys()]).toEqual(['/keep', '/dir'])
    },
  )

  it('continues after a failed change', async () => {
    const fs = fromStorage(new MapStorage())
    await fs.mkdir('/d')
    await expect(fs.write('/d', 'x')).rejects.toMatchObject({ code: 'EISDIR' })
    await fs.write('/f', 'x')
    expect(await readText(fs, '/f')).toBe('x')
  })

  it('keeps the code of an error, and converts any other to EIO with its message', async () => {
    const storage = new MapStorage()
    const fs = fromStorage(storage)
    storage.metadata = async () => {
      throw Object.assign(new Error('quota'), { code: 'ENOSPC' })
    }
    await expect(fs.stat('/x')).rejects.toMatchObject({ name: 'VfsError', code: 'ENOSPC', path: '/x' })
    storage.metadata = async () => {
      throw Object.assign(new Error('bucket is on fire'), { code: 'ERR_FIRE' })
    }
    await expect(fs.stat('/x')).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringMatching(/bucket is on fire/),
    })
  })

  it('leaves both sides unchanged when a move by copying fails', async () => {
    const storage = new MapStorage()
    const fs = fromStorage(storage)
    for (const path of ['/a/1', '/a/2', '/target']) await fs.write(path, path)
    const before = new Map(storage.stored)
    const { copy } = storage
    storage.copy = async (from, to) => {
      if (from === '/a/2') throw new Error('out of luck')
      await copy.call(storage, from, to)
    }
    await expect(fs.rename('/a', '/b')).rejects.toMatchObject({ code: 'EIO' })
    storage.write = async () => {
      throw new Error('out of luck')
    }
    await expect(fs.rename('/a/1', '/target', { overwrite: true })).rejects.toMatchObject({ code: 'EIO' })
    expect(storage.stored).toEqual(before)
  })

  it('keeps the order of changes of a path, however long the storage takes', async () => {
    const fs = fromStorage(new MapStorage())
    const order = ['a', 'b', 'c', 'd']
    await Promise.all(order.map((letter) => fs.append('/log', letter)))
    expect(await readText(fs, '/log')).toBe('abcd')
  })
})
