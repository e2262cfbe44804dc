import { createHash } from 'node:crypto'
import {
  appendBytes,
  type BlobStore,
  chain,
  countLinks,
  createNotLocalError,
  type Inode,
  type MaybePromise,
  type OperationPlan,
  toInlineText,
  toStat,
  type VaultFiles,
} from '../../store/index.ts'
import {
  type Appendable,
  type Attributed,
  Backend,
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
  ReadyStream,
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
import { openStream } from './open-stream.ts'
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
import { isSubmittedAtOnce, VaultContents } from './vault-contents.ts'
import { VaultSync } from './vault-sync.ts'
import { listDirectory, listSmallDirectory, takeSnapshot, walkFiles } from './walk-files.ts'

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
  readonly #contents: VaultContents
  #sync: SyncFileSystem | undefined

  /** @param more additional capabilities of this tree. */
  constructor(source: FilesSource, blobs: BlobStore, more: readonly Capability[] = []) {
    super()
    this.source = source
    this.blobs = blobs
    this.#contents = new VaultContents(source, blobs)
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
    return this.#contents.read(path, options, ctx)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const opened = this.#contents.inspectHeld((files) => {
      const number = files.findByPath(resolveFollowing(files, root, true, 'walk', ctx))
      if (number === undefined || files.getInode(number).type !== 'directory') return undefined
      return { snapshot: takeSnapshot(files.tree.forkForScan(), this.blobs.reader), number }
    })
    return openStream(opened, (found) =>
      found === undefined ? ReadyStream.of([]) : walkFiles(found.snapshot, root, found.number, options),
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
    return this.#contents.write(path, content, options, ctx)
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
    return this.#contents.inspect(read)
  }

  #listLargeDirectory(path: string, ctx: CallContext | undefined): AsyncIterable<DirEntry> {
    const opened = this.#contents.inspectHeld((files) => {
      const number = this.#directoryNumber(files, path, ctx)
      return { snapshot: takeSnapshot(files.tree.fork(), this.blobs.reader), number }
    })
    return openStream(opened, ({ snapshot, number }) => listDirectory(snapshot, number))
  }

  #submit(plan: OperationPlan, ctx: CallContext | undefined): Promise<void> {
    return this.source.submit(plan, toProvenance(ctx))
  }

  #inode(files: VaultFiles, path: string, op: string, ctx: CallContext | undefined): Inode {
    return files.getInode(resolveInode(files, path, false, op, ctx))
  }

  #directoryNumber(files: VaultFiles, path: string, ctx: CallContext | undefined): number {
    const number = resolveInode(files, path, true, 'readdir', ctx)
    if (files.getInode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    return number
  }
}
