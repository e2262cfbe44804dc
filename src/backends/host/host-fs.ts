import { constants, readlinkSync, type Stats, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadFsPromises, type RootConfinement } from '../../machine/index.ts'
import {
  type Appendable,
  type Attributed,
  assertStatChanges,
  Backend,
  basename,
  type CallContext,
  type Capability,
  type Content,
  child,
  collect,
  copyContent,
  createLazyStream,
  type DirEntry,
  dirname,
  type HardLinkable,
  type InodeIdentity,
  isVfsError,
  type Linkable,
  type MkdirOptions,
  pullFrom,
  type ReadOptions,
  type RealpathOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  type Stat,
  type StatChanges,
  type WalkEntry,
  type WalkOptions,
  type WriteOptions,
} from '../../vfs/index.ts'
import { appendAll, openToAppend } from './append-file.ts'
import { replaceFile } from './atomic-write.ts'
import type { ClosedOptions } from './closed-directories.ts'
import { type ConfinedPath, ConfinedTree, type LinkOptions, type LocateOptions } from './confinement.ts'
import { FileLocks } from './file-locks.ts'
import { FileStream, openHostFile } from './file-stream.ts'
import { createHardLink, toIdentity } from './hard-link.ts'
import { attemptAsync, type HostCall, HostFsFault } from './host-errors.ts'
import { listVisibleEntries, toStat } from './list-directory.ts'
import { makeDirectory } from './make-directory.ts'
import { removeTree } from './remove-tree.ts'
import { rename } from './rename.ts'
import { setAttributes } from './set-attributes.ts'
import { walkHostTree } from './walk-host-tree.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set([
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
])

/** Options of `HostFs`. */
export interface HostFsOptions {
  /**
   * The method that keeps links inside the directory. The best one when absent: `handles` on Linux, which is free of
   * races; elsewhere `paths`, which a process that swaps directories at the right moment can defeat.
   */
  readonly confinement?: RootConfinement
  /**
   * A directory for locks, created if it is missing. All processes with the same one change a file one after another,
   * so that no change with `ifMatch` is lost. Without it this holds only within this process.
   */
  readonly locks?: string
  /**
   * Directories that stay closed: nothing in them is listed, read or changed, whatever path, link or mount leads there.
   * EACCES with the reason.
   */
  readonly closed?: ClosedOptions
  /**
   * A file written with `full` survives a power cut, one written with `process` the end of this process: after a
   * power cut it may be empty. `full` when absent.
   */
  readonly durability?: 'full' | 'process'
}

/**
 * A directory of this machine as a file system. A link that leads out of it is EACCES to every operation that would
 * follow it. Pipes, sockets and devices can be listed and removed, not read or written.
 *
 * Paths are resolved synchronously, which is faster than a promise on a local disk; content is read and written
 * asynchronously. A write is synced before the rename, unless `durability` says otherwise, so that a crash leaves the
 * old file or the new. It replaces the file: other hard links keep the old content, and extended attributes are not kept.
 *
 * @example
 * ```ts
 * const docs = new ReadOnlyFs(new HostFs('docs'))
 * assert.ok(await docs.exists('/errors.md'))
 * ```
 */
export class HostFs
  extends Backend
  implements Renamable, Linkable, HardLinkable, Attributed, Appendable, AsyncDisposable
{
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  /** The absolute path of the directory that is `/` here. */
  readonly directory: string
  readonly #tree: ConfinedTree
  readonly #locks: FileLocks | undefined
  readonly #isSynced: boolean

  /**
   * @param dir the directory that becomes `/`. It is opened at the first operation, which fails with ENOENT if it is
   * missing.
   */
  constructor(dir: string, { confinement, locks, closed, durability = 'full' }: HostFsOptions = {}) {
    super()
    this.directory = resolve(dir)
    this.#tree = new ConfinedTree(this.directory, confinement, closed)
    this.#locks = locks === undefined ? undefined : new FileLocks(resolve(locks))
    this.#isSynced = durability === 'full'
  }

  /** Releases the directory. Later operations are EBADF; running ones finish or are EBADF too. */
  async close(): Promise<void> {
    this.#tree.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (call) => {
      const change = () => rename(this.#tree, call.path, call.to, options, toLinkOptions(ctx))
      return this.#runLocked({ op: 'rename', path: call.path }, [call.path, call.to], false, ctx, change)
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path: checked }) =>
      this.#tree.runAt(
        { op: 'symlink', path: checked },
        { ...toLinkOptions(ctx), follow: false, storing: true, parents: true },
        (located) => {
          if (target === '' || !target.isWellFormed())
            throw new HostFsFault('EINVAL', 'the link target is empty or not valid Unicode')
          if (located.entry) throw new HostFsFault('EEXIST')
          symlinkSync(target, located.directory.at(located.name))
        },
      ),
    )
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked) =>
      this.#tree.runAt(
        { op: 'readlink', path: checked },
        { ...toLinkOptions(ctx), follow: false },
        (located) => {
          if (!getEntry(located).isSymbolicLink()) throw new HostFsFault('EINVAL', 'not a symbolic link')
          return readlinkSync(located.directory.at(located.name))
        },
      ),
    )
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    const lookup = { ...toLinkOptions(ctx), follow: followLast, lenient: true }
    return this.call('realpath', path, ctx, (checked) => this.#realpath(checked, lookup))
  }

  /** Creates a hard link. A later `write` replaces the file under one name and leaves the others. An `append` changes all. */
  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, (call) =>
      createHardLink(this.#tree, call.path, call.to, toLinkOptions(ctx)),
    )
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked) =>
      this.#tree.runAt(
        { op: 'identity', path: checked },
        { ...toLinkOptions(ctx), follow: false },
        (located) => toIdentity(getEntry(located)),
      ),
    )
  }

  /** Throws ENOTSUP for the mode of a link itself. */
  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, ({ path: checked }) => {
      assertStatChanges(checked, changes)
      const lookup = { ...toLinkOptions(ctx), follow: changes.ofLink !== true }
      this.#tree.runAt({ op: 'setattr', path: checked }, lookup, (located) =>
        setAttributes(located, getEntry(located), changes),
      )
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, (call) =>
      // Collected first, so that a failing source appends nothing.
      this.#append({ op: 'append', path: call.path }, collect(call.content), ctx),
    )
  }

  protected override async doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.#find({ op: 'exists', path }, { ...toLinkOptions(ctx), follow: false }) !== undefined
  }

  protected doStat(path: string, ctx?: CallContext): Stat {
    const lookup = { ...toLinkOptions(ctx), follow: false }
    return this.#tree.runAt({ op: 'stat', path }, lookup, (located) => toStat(getEntry(located)))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    const call: HostCall = { op: 'readdir', path }
    return createLazyStream(async () => {
      const directory = this.#tree.openDirectory(call, { ...toLinkOptions(ctx), follow: true })
      try {
        return pullFrom(await attemptAsync(call, () => listVisibleEntries(directory, this.#tree.closed)))
      } finally {
        directory.close()
      }
    })
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    ctx?.signal?.throwIfAborted()
    const call: HostCall = { op: 'read', path }
    const lookup = { ...toLinkOptions(ctx), follow: true }
    const open = () => this.#tree.runAt(call, lookup, (located) => openHostFile(located, constants.O_RDONLY))
    return new FileStream(open, call, options)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const call: HostCall = { op: 'walk', path: root }
    const open = () => this.#tree.openDirectory(call, { ...toLinkOptions(ctx), follow: true })
    return walkHostTree(open, call, options, this.#tree.closed)
  }

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    return this.#write({ op: 'write', path }, copyContent(content), options, ctx)
  }

  /** Checks nothing: the write itself compares the file, so that a change by another process in between is noticed. */
  protected override async assertMatch(): Promise<void> {}

  protected override doMkdir(path: string, { parents = false, mode }: MkdirOptions, ctx?: CallContext): void {
    const call: HostCall = { op: 'mkdir', path }
    const links = toLinkOptions(ctx)
    this.#tree.runAt(call, { ...links, follow: false, storing: true, parents }, (located) => {
      const isLink = located.entry?.isSymbolicLink() === true
      if (!parents || !isLink || !this.#leadsToDirectory(call, links)) makeDirectory(located, parents, mode)
    })
  }

  protected override async doRemove(
    path: string,
    { recursive = false }: RemoveOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const call: HostCall = { op: 'remove', path }
    const located = this.#tree.locateMovable(call, { ...toLinkOptions(ctx), follow: false })
    const remove = () => attemptAsync(call, () => removeEntry(located, recursive, ctx?.signal), ctx?.signal)
    try {
      await (located.entry?.isDirectory() ? remove() : this.#runLocked(call, [path], false, ctx, remove))
    } finally {
      located.directory.close()
    }
  }

  async #write(
    call: HostCall,
    content: Content,
    { parents = true, ifMatch, mode }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const lookup = { ...toLinkOptions(ctx), follow: true }
    const old = ifMatch === undefined || ifMatch === null ? ifMatch : this.#find(call, lookup)
    if (ifMatch !== undefined) await super.assertMatch(call.path, ifMatch, ctx)
    const located = this.#tree.locate(call, { ...lookup, storing: true, parents })
    const runExclusive = (step: () => void) => this.#runLockedIfMatch(call, located, ifMatch, ctx, step)
    try {
      await replaceFile(located, call, {
        content,
        mode,
        expected: old,
        signal: ctx?.signal,
        isSynced: this.#isSynced,
        runExclusive,
      })
    } finally {
      located.directory.close()
    }
  }

  /** Checks the version again once the file is locked. */
  #runLockedIfMatch(
    { path }: HostCall,
    located: ConfinedPath,
    ifMatch: string | null | undefined,
    ctx: CallContext | undefined,
    step: () => void,
  ): void | Promise<void> {
    if (this.#locks === undefined) return step()
    return this.#locks.hold([this.#locks.getKey(located)], ctx?.signal, async () => {
      if (ifMatch !== undefined) await super.assertMatch(path, ifMatch, ctx)
      step()
    })
  }

  async #append(
    call: HostCall,
    content: Uint8Array | Promise<Uint8Array>,
    ctx: CallContext | undefined,
  ): Promise<void> {
    const bytes = await content
    const lookup = { ...toLinkOptions(ctx), follow: true, storing: true, parents: true }
    await this.#runLocked(call, [call.path], true, ctx, async () => {
      const file = this.#tree.runAt(call, lookup, openToAppend)
      await attemptAsync(call, () => appendAll(file, bytes))
    })
  }

  /** Reports whether a link leads to a directory; false for a dangling link. ELOOP. */
  #leadsToDirectory(call: HostCall, links: ReturnType<typeof toLinkOptions>): boolean {
    try {
      return this.#tree.runAt(call, { ...links, follow: true }, ({ entry }) => entry?.isDirectory() === true)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return false
      throw error
    }
  }

  /** Runs a change while holding the locks of these paths. A path in a missing directory needs no lock. */
  #runLocked(
    call: HostCall,
    paths: readonly string[],
    follow: boolean,
    ctx: CallContext | undefined,
    change: () => void | Promise<void>,
  ): void | Promise<void> {
    const locks = this.#locks
    if (locks === undefined) return change()
    const keys = paths.flatMap(
      (path) => this.#findKey({ ...call, path }, { ...toLinkOptions(ctx), follow }) ?? [],
    )
    return attemptAsync(call, () => locks.hold(keys, ctx?.signal, change), ctx?.signal)
  }

  #findKey(call: HostCall, lookup: LocateOptions): string | undefined {
    return this.#ignoreMissing(() =>
      this.#tree.runAt(call, lookup, (located) => this.#locks?.getKey(located)),
    )
  }

  #realpath(path: string, lookup: LocateOptions): string {
    try {
      return this.#tree.runAt({ op: 'realpath', path }, lookup, (located) => located.path)
    } catch (error) {
      // A name that is reserved for temporary files.
      if (!isVfsError(error, 'ENOENT') || path === '/') throw error
      return child(this.#realpath(dirname(path), { ...lookup, follow: true }), basename(path))
    }
  }

  /** Returns the stats of a path, or undefined if it is missing. */
  #find(call: HostCall, lookup: LocateOptions): Stats | undefined {
    return this.#ignoreMissing(() => this.#tree.runAt(call, lookup, ({ entry }) => entry))
  }

  #ignoreMissing<T>(find: () => T): T | undefined {
    try {
      return find()
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }
}

function toLinkOptions(ctx: CallContext | undefined): LinkOptions {
  return ctx?.links === 'refuse' ? { linkFree: true } : {}
}

async function removeEntry(
  located: ConfinedPath,
  recursive: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isDirectory = getEntry(located).isDirectory()
  if (isDirectory && !recursive) throw new HostFsFault('EISDIR')
  if (isDirectory) await removeTree(located.directory, located.name, signal)
  else await loadFsPromises().unlink(located.directory.at(located.name))
}

function getEntry({ entry }: ConfinedPath): Stats {
  if (entry === undefined) throw new HostFsFault('ENOENT')
  return entry
}
