import { createHash, hash as digest } from 'node:crypto'
import {
  appendBytes,
  type BlobStore,
  chain,
  countLinks,
  createNotLocalError,
  type ExtraRecords,
  type Inode,
  type MaybePromise,
  MIN_SEGMENTED_BYTES,
  type OperationPlan,
  readContent,
  type StoredContent,
  storeBytes,
  storeStream,
  toInlineText,
  toStat,
  Upload,
  type VaultFiles,
} from '../../store/index.ts'
import {
  type Appendable,
  type Attributed,
  assertSameVersion,
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type CheckedMutation,
  type Content,
  type ContentAddressed,
  collect,
  type DirEntry,
  type FileHandle,
  type HardLinkable,
  type InodeIdentity,
  type Linkable,
  type MkdirOptions,
  type Openable,
  type OpenOptions,
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
import { openFileHandle } from './file-handle.ts'
import type { FilesSource } from './files-source.ts'
import {
  createLinkPlan,
  createMkdirPlan,
  createRemovePlan,
  createRenamePlan,
  createSetattrPlan,
  createSymlinkPlan,
} from './path-plans.ts'
import { resolveFollowing, resolveInode, withoutLinks } from './resolve-paths.ts'
import { toProvenance } from './to-provenance.ts'
import { VaultSync } from './vault-sync.ts'
import {
  type FilesSnapshot,
  listDirectory,
  listSmallDirectory,
  takeSnapshot,
  walkFiles,
} from './walk-files.ts'

/** Capabilities of any tree of a vault. */
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

/** Bytes of a UTF-16 unit in UTF-8, at most. */
const MAX_UTF8_BYTES = 3

/** A vault as a file system: reads use its tree, mutations go through its log. */
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
  protected readonly blobs: BlobStore
  #sync: SyncFileSystem | undefined

  /** @param more additional capabilities of this tree. */
  constructor(source: FilesSource, blobs: BlobStore, more: readonly Capability[] = []) {
    super()
    this.source = source
    this.blobs = blobs
    const sync: readonly Capability[] = blobs.reader.engine.isSync ? ['sync'] : []
    this.capabilities = new Set([...CAPABILITIES, ...sync, ...more])
  }

  /** The synchronous face. ENOTSUP on an asynchronous engine. */
  get sync(): SyncFileSystem {
    if (!this.capabilities.has('sync')) throw createNotLocalError(this.blobs.reader.engine)
    this.#sync ??= this.makeSync()
    return this.#sync
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, ({ path, to }) => {
      this.assertMutable('rename', to)
      return this.#submit(createRenamePlan(path, to, options, ctx), ctx)
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path }) =>
      this.#submit(createSymlinkPlan(target, path, ctx), ctx),
    )
  }

  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, ({ path, to }) => {
      this.assertMutable('link', to)
      return this.#submit(createLinkPlan(path, to, ctx), ctx)
    })
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked) => this.doIdentity(checked, ctx))
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, ({ path }) =>
      this.#submit(createSetattrPlan(path, changes, ctx), ctx),
    )
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked) =>
      this.inspect((files) => {
        const { type, content } = this.#inode(files, checked, 'readlink', ctx)
        if (type === 'symlink') return toInlineText(content)
        throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
      }),
    )
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked) =>
      this.inspect((files) => resolveFollowing(files, checked, followLast, 'realpath', ctx)),
    )
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, ({ path, content }) => {
      if (path === '/') throw new VfsError('EISDIR', path, { op: 'append' })
      return chain(collect(content), (more) => {
        const plan: OperationPlan = (files) => appendBytes(files, this.blobs, path, more)
        return this.#submit(withoutLinks(plan, { op: 'append', paths: [path], followLast: true }, ctx), ctx)
      })
    })
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, async (checked) => {
      const state = createHash('sha256')
      for await (const chunk of this.doRead(checked, {}, ctx)) state.update(chunk)
      return state.digest('hex')
    })
  }

  /** Opens a file for random access. Each write is a separate mutation. ENOENT, EISDIR. */
  open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, (checked) => {
      if (options.write || options.create || options.truncate) this.assertMutable('write', checked)
      return openFileHandle(
        { source: this.source, blobs: this.blobs, provenance: toProvenance(ctx), ctx },
        checked,
        options,
      )
    })
  }

  /** True for content in memory on a local engine: the log applies and commits changes in the order of their calls. */
  protected override isAppliedAtOnce({ content }: CheckedMutation): boolean {
    return this.blobs.reader.engine.isSync === true && isSubmittedAtOnce(content)
  }

  protected override doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    return this.inspect(
      (files) => files.findByPath(resolveFollowing(files, path, false, 'exists', ctx)) !== undefined,
    )
  }

  protected doStat(path: string, ctx?: CallContext): Stat | Promise<Stat> {
    return this.inspect((files) => toStat(this.#inode(files, path, 'stat', ctx)))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    const listed = this.inspect((files) => listSmallDirectory(files, this.#directoryNumber(files, path, ctx)))
    return openStream(listed, (entries) => entries ?? this.#listLargeDirectory(path, ctx))
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const opened = this.inspect((files) => {
      const number = this.#fileNumber(files, path, 'read', ctx)
      // Content that is not chunked is read with one lookup.
      if (files.getInode(number).content !== 'chunks')
        return { bytes: takeFirst(readContent(files, number, this.blobs)) }
      return undefined
    })
    const found = chain(opened, (whole) => whole ?? this.#openChunks(path, ctx))
    return openStream(found, (source) =>
      'bytes' in source
        ? byteStream(source.bytes, path, options)
        : byteStream((start, length) => this.#range(source, start, length), path, options),
    )
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const opened = this.#inspectHeld((files) => {
      const number = files.findByPath(resolveFollowing(files, root, true, 'walk', ctx))
      if (number === undefined || files.getInode(number).type !== 'directory') return undefined
      return { snapshot: takeSnapshot(files.tree.forkForScan(), this.blobs.reader), number }
    })
    return openStream(opened, (found) =>
      found === undefined ? emptyStream() : walkFiles(found.snapshot, root, found.number, options),
    )
  }

  /** Checks nothing: the plan of the write compares `ifMatch`, on the state that it is committed to. */
  protected override assertMatch(): void {}

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const submit = (stored: StoredContent, extraRecords?: ExtraRecords) =>
      this.source.submit(
        withoutLinks(
          this.#createWritePlan(path, stored, options),
          { op: 'write', paths: [path], followLast: true },
          ctx,
        ),
        toProvenance(ctx),
        extraRecords,
      )
    if (typeof content !== 'string' && !(content instanceof Uint8Array))
      return this.#writeStream(content, submit)
    const bytes = this.blobs.copy(content)
    if (bytes.length > MIN_SEGMENTED_BYTES) return this.#writeStream(toStream(bytes), submit)
    // Other content in memory is submitted synchronously, so that writes issued together are committed together.
    const stored = this.blobs.reader.run(() => storeBytes(bytes, this.blobs))
    return stored instanceof Promise ? stored.then((content) => submit(content)) : submit(stored)
  }

  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    return this.#submit(createMkdirPlan(path, options, ctx), ctx)
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    return this.#submit(createRemovePlan(path, options, ctx), ctx)
  }

  protected doIdentity(path: string, ctx?: CallContext): MaybePromise<InodeIdentity> {
    return this.inspect((files) => {
      const ino = resolveInode(files, path, false, 'identity', ctx)
      return { ino, nlink: countLinks(files.getInode(ino)) }
    })
  }

  /** Creates the synchronous face, on first use. */
  protected makeSync(): SyncFileSystem {
    return new VaultSync(this.source, this.blobs)
  }

  /** Reads the current files; synchronously on a local engine. */
  protected inspect<T>(read: (files: VaultFiles) => T): MaybePromise<T> {
    return this.blobs.reader.run(() => read(this.source.readFiles()))
  }

  /** Reads the current files and protects them from collection while the caller reads on. */
  #inspectHeld<T>(read: (files: VaultFiles) => T): MaybePromise<T> {
    return chain(this.blobs.reader.session.beginRead(), () => this.inspect(read))
  }

  #listLargeDirectory(path: string, ctx: CallContext | undefined): AsyncIterable<DirEntry> {
    const opened = this.#inspectHeld((files) => {
      const number = this.#directoryNumber(files, path, ctx)
      return { snapshot: takeSnapshot(files.tree.fork(), this.blobs.reader), number }
    })
    return openStream(opened, ({ snapshot, number }) => listDirectory(snapshot, number))
  }

  #openChunks(path: string, ctx: CallContext | undefined): MaybePromise<ChunkedFile> {
    return this.#inspectHeld((files) => {
      const number = this.#fileNumber(files, path, 'read', ctx)
      return { ...takeSnapshot(files.tree.fork(), this.blobs.reader), number }
    })
  }

  #submit(plan: OperationPlan, ctx: CallContext | undefined): Promise<void> {
    return this.source.submit(plan, toProvenance(ctx))
  }

  async #writeStream(
    content: AsyncIterable<Uint8Array | string>,
    submit: (stored: StoredContent, extraRecords: ExtraRecords) => Promise<void>,
  ): Promise<void> {
    await using upload = new Upload(this.blobs)
    const stored = await storeStream(content, this.blobs, upload)
    await submit(stored, upload.extraRecords)
  }

  #createWritePlan(
    path: string,
    content: StoredContent,
    { parents = true, ifMatch, mode }: WriteOptions,
  ): OperationPlan {
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
        const bytes = reader.run(() =>
          takeFirst(readContent(files, number, this.blobs, at, start + length - at)),
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

  #inode(files: VaultFiles, path: string, op: string, ctx: CallContext | undefined): Inode {
    return files.getInode(resolveInode(files, path, false, op, ctx))
  }

  #directoryNumber(files: VaultFiles, path: string, ctx: CallContext | undefined): number {
    const number = resolveInode(files, path, true, 'readdir', ctx)
    if (files.getInode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    return number
  }

  #fileNumber(files: VaultFiles, path: string, op: string, ctx: CallContext | undefined): number {
    const number = resolveInode(files, path, true, op, ctx)
    if (files.getInode(number).type === 'directory') throw new VfsError('EISDIR', path, { op })
    return number
  }

  #assertVersion(files: VaultFiles, path: string, expected: string | null): void {
    const number = files.findByPath(files.resolveLinks(path, true, 'write'))
    if (number !== undefined && String(files.getInode(number).version) === expected) return
    const content = number === undefined ? null : Buffer.concat([...readContent(files, number, this.blobs)])
    assertSameVersion(path, content && digest('sha256', content), expected)
  }
}

/** A file that is stored in chunks. */
interface ChunkedFile extends FilesSnapshot {
  readonly number: number
}

/** Returns the stream of an opened source, synchronously if it is available. */
function openStream<S, T>(opened: MaybePromise<S>, stream: (found: S) => AsyncIterable<T>): AsyncIterable<T> {
  const started = chain(opened, stream)
  return started instanceof Promise ? awaitStream(started) : started
}

async function* awaitStream<T>(stream: Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await stream
}

async function* emptyStream(): AsyncGenerator<never> {}

/** Reports whether content is submitted without waiting for a stream. */
function isSubmittedAtOnce(content: Content): boolean {
  if (typeof content === 'string') return content.length * MAX_UTF8_BYTES <= MIN_SEGMENTED_BYTES
  return content instanceof Uint8Array && content.length <= MIN_SEGMENTED_BYTES
}

function takeFirst(chunks: Iterable<Uint8Array>): Uint8Array {
  for (const chunk of chunks) return chunk
  return new Uint8Array(0)
}

async function* toStream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
