import { hash as digest } from 'node:crypto'
import {
  appendBytes,
  type Blobs,
  Files,
  type Inode,
  inlineText,
  type Plan,
  readContent,
  type StoredContent,
  statOf,
  storeContent,
} from '../../store/index.ts'
import {
  type Appendable,
  assertLinkTarget,
  assertSameVersion,
  Backend,
  byteStream,
  type CallContext,
  type Caller,
  type Capability,
  type Content,
  type ContentAddressed,
  collect,
  type DirEntry,
  type Linkable,
  type MkdirOptions,
  type ReadOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  type Stat,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type WriteOptions,
} from '../../vfs/index.ts'
import { walkFiles } from './walk-files.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'write',
  'mkdir',
  'native-walk',
  'native-read',
  'rename',
  'link',
  'append',
  'hash',
])

/** Where a vault's files come from, and where its mutations go: a log, or an earlier tree that takes none. */
export interface FilesSource {
  readonly files: Files
  refresh(): void
  submit(plan: Plan, caller?: Caller): Promise<void>
}

/** A vault as a file system: reads look into its tree, mutations go through its log. */
export class VaultFs extends Backend implements Renamable, Linkable, Appendable, ContentAddressed {
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #log: FilesSource
  readonly #blobs: Blobs

  constructor(log: FilesSource, blobs: Blobs) {
    super()
    this.#log = log
    this.#blobs = blobs
  }

  rename(
    from: string,
    to: string,
    { overwrite = false }: RenameOptions = {},
    ctx?: CallContext,
  ): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (asked) =>
      this.#log.submit(() => ({ op: 'rename', path: asked.path, to: asked.to, overwrite }), ctx?.caller),
    )
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, (asked) => {
      assertLinkTarget(target)
      return this.#log.submit(() => ({ op: 'symlink', path: asked.path, target }), ctx?.caller)
    })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked) => {
      const { type, content } = this.#inode(checked, 'readlink', false)
      if (type === 'symlink') return inlineText(content)
      throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked) => this.#files().resolve(checked, false, 'realpath'))
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, async (asked) => {
      if (asked.path === '/') throw new VfsError('EISDIR', asked.path, { op: 'append' })
      const more = await collect(asked.content)
      await this.#log.submit((files) => appendBytes(files, this.#blobs, asked.path, more), ctx?.caller)
    })
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, (checked) => {
      const files = this.#files()
      return this.#hashOf(files, this.#fileNumber(files, checked, 'hash'))
    })
  }

  protected override doExists(path: string): Promise<boolean> {
    const files = this.#files()
    return Promise.resolve(files.find(files.resolve(path, false, 'exists')) !== undefined)
  }

  protected doStat(path: string): Stat {
    return statOf(this.#inode(path, 'stat', false))
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    const files = this.#files()
    const number = this.#number(files, path, 'readdir', true)
    if (files.inode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    for (const { name, type } of files.entries(number)) yield { name, type }
  }

  protected doRead(path: string, options: ReadOptions): AsyncIterable<Uint8Array> {
    const current = this.#files()
    const number = this.#fileNumber(current, path, 'read')
    const blobs = this.#blobs
    // What is not cut into chunks is in hand after one look-up.
    if (current.inode(number).content !== 'chunks') {
      const [bytes = new Uint8Array(0)] = readContent(current, number, blobs)
      return byteStream(bytes, path, options)
    }
    const files = new Files(current.tree.fork())
    const range = async function* (start: number, length: number) {
      yield* readContent(files, number, blobs, start, length)
    }
    return byteStream(range, path, options)
  }

  protected override doWalk(root: string, options: WalkOptions): AsyncIterable<WalkEntry> {
    const files = new Files(this.#files().tree.fork())
    return walkFiles(files, root, options)
  }

  /** Decided in the plan of the write, on the very state it is committed to. */
  protected override async assertMatch(): Promise<void> {}

  protected override doWrite(
    path: string,
    content: Content,
    { parents = true, ifMatch, mode }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const permissions = mode === undefined ? {} : { mode }
    const submit = (stored: StoredContent) =>
      this.#log.submit((files) => {
        if (ifMatch !== undefined) this.#assertVersion(files, path, ifMatch)
        return { op: 'write', path, content: stored, parents, ...permissions }
      }, ctx?.caller)
    // Content in hand is submitted at once, so that writes issued together are committed together.
    const stored = storeContent(content, this.#blobs)
    return stored instanceof Promise ? stored.then(submit) : submit(stored)
  }

  protected override doMkdir(
    path: string,
    { parents = false, mode }: MkdirOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const permissions = mode === undefined ? {} : { mode }
    return this.#log.submit(() => ({ op: 'mkdir', path, parents, ...permissions }), ctx?.caller)
  }

  protected override doRemove(
    path: string,
    { recursive = false }: RemoveOptions,
    ctx?: CallContext,
  ): Promise<void> {
    return this.#log.submit(() => ({ op: 'remove', path, recursive }), ctx?.caller)
  }

  #files(): Files {
    this.#log.refresh()
    return this.#log.files
  }

  #number(files: Files, path: string, op: string, followLast: boolean): number {
    const number = files.find(files.resolve(path, followLast, op))
    if (number === undefined) throw new VfsError('ENOENT', path, { op })
    return number
  }

  #inode(path: string, op: string, followLast: boolean): Inode {
    const files = this.#files()
    return files.inode(this.#number(files, path, op, followLast))
  }

  #fileNumber(files: Files, path: string, op: string): number {
    const number = this.#number(files, path, op, true)
    if (files.inode(number).type === 'directory') throw new VfsError('EISDIR', path, { op })
    return number
  }

  #hashOf(files: Files, number: number): string {
    return digest('sha256', Buffer.concat([...readContent(files, number, this.#blobs)]))
  }

  #assertVersion(files: Files, path: string, expected: string | null): void {
    const number = files.find(files.resolve(path, true, 'write'))
    if (number !== undefined && String(files.inode(number).version) === expected) return
    assertSameVersion(path, number === undefined ? null : this.#hashOf(files, number), expected)
  }
}
