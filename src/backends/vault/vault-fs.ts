import { createHash, hash as digest } from 'node:crypto'
import {
  type Answer,
  appendBytes,
  type Besides,
  type Blobs,
  chain,
  type Files,
  type Inode,
  inlineText,
  notLocal,
  type Plan,
  readContent,
  type StoredContent,
  statOf,
  storeBytes,
  storeStream,
  Upload,
} from '../../store/index.ts'
import {
  type Appendable,
  type Attributed,
  assertSameVersion,
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type Content,
  type ContentAddressed,
  collect,
  type DirEntry,
  type FileHandle,
  type HardLinkable,
  type Identity,
  type Linkable,
  type MkdirOptions,
  type Openable,
  type OpenOptions,
  ownBytes,
  type ReadOptions,
  type RealpathOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  type Stat,
  type StatChanges,
  type SyncFileSystem,
  type Synchronous,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type WriteOptions,
} from '../../vfs/index.ts'
import type { FilesSource } from './files-source.ts'
import { linkFree, numberAt, resolved } from './link-free.ts'
import { openFile } from './open-file.ts'
import { attributesPlan, linkPlan, mkdirPlan, removePlan, renamePlan, symlinkPlan } from './path-plans.ts'
import { provenanceOf } from './provenance.ts'
import { VaultSync } from './vault-sync.ts'
import { listDirectory, type Snapshot, takeSnapshot, walkFiles } from './walk-files.ts'

/** What any tree of a vault can do. */
const CAPABILITIES: readonly Capability[] = [
  'read',
  'write',
  'mkdir',
  'native-walk',
  'native-read',
  'rename',
  'link',
  'hardlink',
  'setattr',
  'append',
  'hash',
  'open',
]

/** A vault as a file system: reads look into its tree, mutations go through its log. */
export class VaultFs
  extends Backend
  implements
    Renamable,
    Linkable,
    HardLinkable,
    Attributed,
    Appendable,
    ContentAddressed,
    Openable,
    Synchronous
{
  readonly capabilities: ReadonlySet<Capability>
  protected readonly source: FilesSource
  protected readonly blobs: Blobs
  #sync: SyncFileSystem | undefined

  /** @param more what this tree can do beyond what all can. */
  constructor(source: FilesSource, blobs: Blobs, more: readonly Capability[] = []) {
    super()
    this.source = source
    this.blobs = blobs
    const sync: readonly Capability[] = blobs.reader.engine.answersAtOnce ? ['sync'] : []
    this.capabilities = new Set([...CAPABILITIES, ...sync, ...more])
  }

  /** The same files for callers that cannot wait. ENOTSUP where the engine lets callers wait. */
  get sync(): SyncFileSystem {
    if (!this.capabilities.has('sync')) throw notLocal(this.blobs.reader.engine)
    this.#sync ??= this.makeSync()
    return this.#sync
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, ({ path, to }) => {
      this.assertMutable('rename', to)
      return this.#submit(renamePlan(path, to, options, ctx), ctx)
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path }) =>
      this.#submit(symlinkPlan(target, path, ctx), ctx),
    )
  }

  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, ({ path, to }) => {
      this.assertMutable('link', to)
      return this.#submit(linkPlan(path, to, ctx), ctx)
    })
  }

  identity(path: string, ctx?: CallContext): Promise<Identity> {
    return this.call('identity', path, ctx, (checked) => this.doIdentity(checked, ctx))
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, ({ path }) =>
      this.#submit(attributesPlan(path, changes, ctx), ctx),
    )
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked) =>
      this.look((files) => {
        const { type, content } = this.#inode(files, checked, 'readlink', ctx)
        if (type === 'symlink') return inlineText(content)
        throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
      }),
    )
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked) =>
      this.look((files) => resolved(files, checked, followLast, 'realpath', ctx)),
    )
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, async ({ path, content }) => {
      if (path === '/') throw new VfsError('EISDIR', path, { op: 'append' })
      const more = await collect(content)
      const plan: Plan = (files) => appendBytes(files, this.blobs, path, more)
      await this.#submit(linkFree(plan, { op: 'append', paths: [path], followLast: true }, ctx), ctx)
    })
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, async (checked) => {
      const state = createHash('sha256')
      for await (const chunk of this.doRead(checked, {}, ctx)) state.update(chunk)
      return state.digest('hex')
    })
  }

  /** Random access to a file; each write is a mutation of its own. ENOENT, EISDIR. */
  open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, (checked) => {
      if (options.write || options.create || options.truncate) this.assertMutable('write', checked)
      return openFile(
        { source: this.source, blobs: this.blobs, by: provenanceOf(ctx), ctx },
        checked,
        options,
      )
    })
  }

  protected override doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    return this.look((files) => files.find(resolved(files, path, false, 'exists', ctx)) !== undefined)
  }

  protected doStat(path: string, ctx?: CallContext): Stat | Promise<Stat> {
    return this.look((files) => statOf(this.#inode(files, path, 'stat', ctx)))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    const opened = this.#lookLong((files) => {
      const number = numberAt(files, path, true, 'readdir', ctx)
      if (files.inode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
      return { snapshot: takeSnapshot(files.tree.fork(), this.blobs.reader), number }
    })
    return streamOf(opened, ({ snapshot, number }) => listDirectory(snapshot, number))
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const opened = this.look((files) => {
      const number = this.#fileNumber(files, path, 'read', ctx)
      // What is not cut into chunks is in hand after one look-up.
      if (files.inode(number).content !== 'chunks')
        return { bytes: firstOf(readContent(files, number, this.blobs)) }
      return undefined
    })
    const found = chain(opened, (whole) => whole ?? this.#openChunks(path, ctx))
    return streamOf(found, (source) =>
      'bytes' in source
        ? byteStream(source.bytes, path, options)
        : byteStream((start, length) => this.#range(source, start, length), path, options),
    )
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const opened = this.#lookLong((files) => {
      const number = files.find(resolved(files, root, true, 'walk', ctx))
      if (number === undefined || files.inode(number).type !== 'directory') return undefined
      return { snapshot: takeSnapshot(files.tree.forkToPass(), this.blobs.reader), number }
    })
    return streamOf(opened, (found) =>
      found === undefined ? nothing() : walkFiles(found.snapshot, root, found.number, options),
    )
  }

  /** Decided in the plan of the write, on the very state it is committed to. */
  protected override assertMatch(): void {}

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const submit = (stored: StoredContent, besides?: Besides) =>
      this.source.submit(
        linkFree(
          this.#writePlan(path, stored, options),
          { op: 'write', paths: [path], followLast: true },
          ctx,
        ),
        provenanceOf(ctx),
        besides,
      )
    if (typeof content !== 'string' && !(content instanceof Uint8Array))
      return this.#writeStream(content, submit)
    // Content in hand is submitted at once, so that writes issued together are committed together.
    const bytes = ownBytes(content)
    const stored = this.blobs.reader.resolve(() => storeBytes(bytes, this.blobs))
    return stored instanceof Promise ? stored.then((content) => submit(content)) : submit(stored)
  }

  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    return this.#submit(mkdirPlan(path, options, ctx), ctx)
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    return this.#submit(removePlan(path, options, ctx), ctx)
  }

  protected doIdentity(path: string, ctx?: CallContext): Answer<Identity> {
    return this.look((files) => {
      const ino = numberAt(files, path, false, 'identity', ctx)
      return { ino, nlink: files.inode(ino).links }
    })
  }

  /** Made when it is first asked for. */
  protected makeSync(): SyncFileSystem {
    return new VaultSync(this.source, this.blobs)
  }

  /** Looks at the files as they are now; at once where the engine is local. */
  protected look<T>(see: (files: Files) => T): Answer<T> {
    return this.blobs.reader.resolve(() => see(this.source.read()))
  }

  /** The same for what is read on afterwards: no collection takes it meanwhile. */
  #lookLong<T>(see: (files: Files) => T): Answer<T> {
    return chain(this.blobs.reader.session.enter(), () => this.look(see))
  }

  #openChunks(path: string, ctx: CallContext | undefined): Answer<ChunkedFile> {
    return this.#lookLong((files) => {
      const number = this.#fileNumber(files, path, 'read', ctx)
      return { ...takeSnapshot(files.tree.fork(), this.blobs.reader), number }
    })
  }

  #submit(plan: Plan, ctx: CallContext | undefined): Promise<void> {
    return this.source.submit(plan, provenanceOf(ctx))
  }

  async #writeStream(
    content: AsyncIterable<Uint8Array | string>,
    submit: (stored: StoredContent, besides: Besides) => Promise<void>,
  ): Promise<void> {
    await using upload = new Upload(this.blobs)
    const stored = await storeStream(content, this.blobs, upload)
    await submit(stored, upload.besides)
  }

  #writePlan(path: string, content: StoredContent, { parents = true, ifMatch, mode }: WriteOptions): Plan {
    return (files) => {
      if (ifMatch !== undefined) this.#assertVersion(files, path, ifMatch)
      return { op: 'write', path, content, parents, ...(mode !== undefined && { mode }) }
    }
  }

  async *#range(
    { files, number, hold }: ChunkedFile,
    start: number,
    length: number,
  ): AsyncGenerator<Uint8Array> {
    const { reader } = this.blobs
    try {
      for (let at = start; at < start + length; ) {
        const bytes = reader.resolve(() =>
          firstOf(readContent(files, number, this.blobs, at, start + length - at)),
        )
        const chunk = bytes instanceof Promise ? await bytes : bytes
        if (chunk.length === 0) return
        yield chunk
        at += chunk.length
      }
    } finally {
      hold.release()
    }
  }

  #inode(files: Files, path: string, op: string, ctx: CallContext | undefined): Inode {
    return files.inode(numberAt(files, path, false, op, ctx))
  }

  #fileNumber(files: Files, path: string, op: string, ctx: CallContext | undefined): number {
    const number = numberAt(files, path, true, op, ctx)
    if (files.inode(number).type === 'directory') throw new VfsError('EISDIR', path, { op })
    return number
  }

  #assertVersion(files: Files, path: string, expected: string | null): void {
    const number = files.find(files.resolve(path, true, 'write'))
    if (number !== undefined && String(files.inode(number).version) === expected) return
    const content = number === undefined ? null : Buffer.concat([...readContent(files, number, this.blobs)])
    assertSameVersion(path, content && digest('sha256', content), expected)
  }
}

/** A file that is read chunk by chunk. */
interface ChunkedFile extends Snapshot {
  readonly number: number
}

/** A stream of what is opened: now where that is at hand, or when it has come. */
function streamOf<S, T>(opened: Answer<S>, stream: (found: S) => AsyncIterable<T>): AsyncIterable<T> {
  const begun = chain(opened, stream)
  return begun instanceof Promise ? later(begun) : begun
}

async function* later<T>(stream: Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await stream
}

async function* nothing(): AsyncGenerator<never> {}

function firstOf(chunks: Iterable<Uint8Array>): Uint8Array {
  for (const chunk of chunks) return chunk
  return new Uint8Array(0)
}
