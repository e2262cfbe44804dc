// A backend of your own: a file system over a flat map of Blobs, as docs/guide/custom-backend.md explains it.
// Run: npx node examples/custom-backend.ts
import assert from 'node:assert/strict'
import { append, MountTable, readText, tree } from 'coppice'
import {
  type Appendable,
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type Content,
  collect,
  type DirEntry,
  dirname,
  type MkdirOptions,
  type ReadOptions,
  type RemoveOptions,
  type Stat,
  VfsError,
  type WriteOptions,
} from 'coppice/backend'

/** Keys are spelled like URLs: `/docs/guide.md` is a file; a key below `/docs/` makes `/docs` a directory. */
export class BucketFs extends Backend implements Appendable {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir', 'append'])
  readonly #bucket: Map<string, Blob>

  constructor(bucket: Map<string, Blob> = new Map()) {
    super()
    this.#bucket = bucket
  }

  protected doStat(path: string): Stat {
    const blob = this.#bucket.get(path)
    if (blob) return { type: 'file', size: blob.size, mtime: new Date(0), mode: null }
    if (this.#isDirectory(path)) return { type: 'directory', size: 0, mtime: new Date(0), mode: null }
    throw new VfsError('ENOENT', path)
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    if (this.doStat(path).type !== 'directory') throw new VfsError('ENOTDIR', path)
    const entries = new Map<string, DirEntry>()
    for (const key of this.#keysIn(path)) {
      const [name = '', ...below] = key.slice(folder(path).length).split('/')
      if (name !== '') entries.set(name, { name, type: below.length > 0 ? 'directory' : 'file' })
    }
    yield* [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  protected doRead(path: string, options: ReadOptions): AsyncIterable<Uint8Array> {
    const blob = this.#bucket.get(path)
    if (!blob) throw new VfsError(this.#isDirectory(path) ? 'EISDIR' : 'ENOENT', path)
    // The length may be Infinity, which a Blob of Node 22 takes for nothing.
    const open = (start: number, length: number) =>
      blob.slice(start, Math.min(start + length, blob.size)).stream()
    return byteStream(open, path, options)
  }

  protected override async doWrite(
    path: string,
    content: Content,
    { parents = true }: WriteOptions,
  ): Promise<void> {
    const bytes = await collect(content)
    this.#put(path, new Blob([bytes]), parents)
  }

  protected override doMkdir(path: string, { parents = false }: MkdirOptions): void {
    if (parents && this.#isDirectory(path)) return
    if (this.#bucket.has(path) || this.#isDirectory(path)) throw new VfsError('EEXIST', path)
    this.#makeParents(path, parents)
    this.#bucket.set(folder(path), new Blob([]))
  }

  protected override doRemove(path: string, { recursive = false }: RemoveOptions): void {
    if (this.doStat(path).type === 'directory' && !recursive) throw new VfsError('EISDIR', path)
    this.#bucket.delete(path)
    for (const key of this.#keysIn(path)) this.#bucket.delete(key)
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, async (asked) => {
      const more = await collect(asked.content)
      this.#put(asked.path, new Blob([this.#bucket.get(asked.path) ?? '', more]), true)
    })
  }

  #put(path: string, blob: Blob, parents: boolean): void {
    if (this.#isDirectory(path)) throw new VfsError('EISDIR', path)
    this.#makeParents(path, parents)
    this.#bucket.set(path, blob)
  }

  #makeParents(path: string, parents: boolean): void {
    const above: string[] = []
    for (let at = dirname(path); at !== '/'; at = dirname(at)) above.push(at)
    if (above.some((at) => this.#bucket.has(at))) throw new VfsError('ENOTDIR', path)
    if (!parents && !this.#isDirectory(dirname(path))) throw new VfsError('ENOENT', path)
    for (const at of above) this.#bucket.set(folder(at), new Blob([]))
  }

  #isDirectory(path: string): boolean {
    return path === '/' || this.#keysIn(path).some(() => true)
  }

  #keysIn(path: string): IteratorObject<string> {
    return this.#bucket.keys().filter((key) => key.startsWith(folder(path)))
  }
}

function folder(path: string): string {
  return path === '/' ? '/' : `${path}/`
}

if (import.meta.main) {
  const bucket = new Map([['/docs/guide.md', new Blob(['# Guide\n'])]])
  const fs = new MountTable({ '/bucket': new BucketFs(bucket) })
  await append(fs, '/bucket/docs/guide.md', 'Start here.\n')
  await fs.write('/bucket/notes/today.txt', 'wrote a backend')

  console.log(await tree(fs))
  assert.equal(await readText(fs, '/bucket/docs/guide.md'), '# Guide\nStart here.\n')
  assert.deepEqual([...bucket.keys()], ['/docs/guide.md', '/docs/', '/notes/', '/notes/today.txt'])
}
