// Dumb storage of your own as a file system, as docs/guide/storage.md explains it: ten methods over a Map.
// Run: npx node examples/storage.ts
import assert from 'node:assert/strict'
import { copy, grep, MountTable, tree } from 'coppice'
import { basename, dirname } from 'coppice/backend'
import { fromStorage, type StorageBackend, type StorageEntry, type StorageMetadata } from 'coppice/storage'

/** A file's bytes; null is a directory. */
type Stored = Uint8Array | null

export class MapStorage implements StorageBackend {
  readonly #stored = new Map<string, Stored>()

  async read(path: string): Promise<Uint8Array> {
    return this.#get(path) ?? new Uint8Array()
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.#stored.set(path, bytes)
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    const old = this.#stored.get(path) ?? new Uint8Array()
    this.#stored.set(path, Buffer.concat([old, bytes]))
  }

  async delete(path: string): Promise<void> {
    this.#stored.delete(path)
  }

  async list(path: string): Promise<StorageEntry[]> {
    const inside = [...this.#stored].filter(([key]) => dirname(key) === path)
    return inside.map(([key, stored]) => ({ name: basename(key), kind: kindOf(stored) }))
  }

  async exists(path: string): Promise<boolean> {
    return this.#stored.has(path)
  }

  async mkdir(path: string): Promise<void> {
    this.#stored.set(path, null)
  }

  async copy(from: string, to: string): Promise<void> {
    this.#stored.set(to, this.#get(from))
  }

  async rename(): Promise<void> {
    throw Object.assign(new Error('keys cannot be renamed'), { code: 'ENOTSUP' })
  }

  async metadata(path: string): Promise<StorageMetadata> {
    const stored = this.#get(path)
    return { kind: kindOf(stored), size: stored?.length ?? 0 }
  }

  #get(path: string): Stored {
    const stored = this.#stored.get(path)
    if (stored === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return stored
  }
}

function kindOf(stored: Stored): 'file' | 'directory' {
  return stored === null ? 'directory' : 'file'
}

if (import.meta.main) {
  const mine = fromStorage(new MapStorage())
  const fs = new MountTable({ '/mine': mine })
  await fs.write('/mine/docs/guide.md', '# Guide\nstart here\n')
  await fs.rename('/mine/docs', '/mine/manual')
  await copy(fs, '/mine/manual', '/mine/backup')
  console.log(await tree(fs))

  const found = await Array.fromAsync(grep(fs, '/', { pattern: 'start' }))
  assert.deepEqual(
    found.map(({ path, line }) => `${path}:${line}`),
    ['/mine/backup/guide.md:2', '/mine/manual/guide.md:2'],
  )
  await assert.rejects(fs.write('/mine/manual/guide.md', 'lost', { ifMatch: 'another version' }), {
    code: 'ECONFLICT',
  })
}
