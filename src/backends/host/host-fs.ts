import { constants, readlinkSync, type Stats, symlinkSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { RootConfinement } from '../../machine/index.ts'
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
  type DirEntry,
  dirname,
  type HardLinkable,
  type InodeIdentity,
  isVfsError,
  type Linkable,
  type MkdirOptions,
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

export interface HostFsOptions {
  /**
   * How links are kept from leading out of the directory. The best there is when absent: `handles` on Linux, which
   * no race defeats; elsewhere `paths`, which a process that swaps directories at the right moment can.
   */
  readonly confinement?: RootConfinement
  /**
   * A directory of this machine for locks, made if it is missing. Changes of a file are then made one after another by
   * all processes that name the same one, so that none with `ifMatch` is lost; without it that holds in this process.
   */
  readonly locks?: string
  /**
   * Directories of this machine that stay closed, wherever they are: nothing in them is listed, read or changed,
   * whatever path, link, further name or mount leads there. EACCES with the reason.
   */
  readonly closed?: ClosedOptions
}

/**
 * A directory of this machine. Confined by real paths: a link that leads out of it is EACCES to everything that
 * would follow it. Pipes, sockets and devices can be seen and removed, not read or written.
 *
 * Paths are resolved synchronously, which on a local disk is faster than any promise; content is read and written
 * asynchronously. A write is synced before it takes the file's name, so that a crash leaves the old file or the new;
 * it replaces the file, so its other names keep the old one, and its extended attributes are not kept.
 */
export class HostFs
  extends Backend
  implements Renamable, Linkable, HardLinkable, Attributed, Appendable, AsyncDisposable
{
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  /** What is `/` here, as an absolute path of this machine. */
  readonly directory: string
  readonly #tree: ConfinedTree
  readonly #locks: FileLocks | undefined

  /** @param dir what becomes `/`; opened at the first operation, which fails with ENOENT if it is missing. */
  constructor(dir: string, { confinement, locks, closed }: HostFsOptions = {}) {
    super()
    this.directory = resolve(dir)
    this.#tree = new ConfinedTree(this.directory, confinement, closed)
    this.#locks = locks === undefined ? undefined : new FileLocks(resolve(locks))
  }

  /** Releases the directory. Later operations are EBADF; what is under way finishes, or is EBADF too. */
  async close(): Promise<void> {
    this.#tree.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (asked) => {
      const act = () => rename(this.#tree, asked.path, asked.to, options, toLinkOptions(ctx))
      return this.#runLocked({ op: 'rename', path: asked.path }, [asked.path, asked.to], false, ctx, act)
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path: checked }) =>
      this.#tree.runAt(
        { op: 'symlink', path: checked },
        { ...toLinkOptions(ctx), follow: false, storing: true, parents: true },
        (place) => {
          if (target === '' || !target.isWellFormed()) throw new HostFsFault('EINVAL', 'no valid link target')
          if (place.entry) throw new HostFsFault('EEXIST')
          symlinkSync(target, place.directory.at(place.name))
        },
      ),
    )
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked) =>
      this.#tree.runAt(
        { op: 'readlink', path: checked },
        { ...toLinkOptions(ctx), follow: false },
        (place) => {
          if (!getEntry(place).isSymbolicLink()) throw new HostFsFault('EINVAL', 'not a symbolic link')
          return readlinkSync(place.directory.at(place.name))
        },
      ),
    )
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    const way = { ...toLinkOptions(ctx), follow: followLast }
    return this.call('realpath', path, ctx, (checked) => this.#realpath(checked, way))
  }

  /** A later `write` under one name leaves the others as they are: it replaces the file. An `append` does not. */
  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, (asked) =>
      createHardLink(this.#tree, asked.path, asked.to, toLinkOptions(ctx)),
    )
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked) =>
      this.#tree.runAt({ op: 'identity', path: checked }, { ...toLinkOptions(ctx), follow: false }, (place) =>
        toIdentity(getEntry(place)),
      ),
    )
  }

  /** ENOTSUP for the mode of a link itself. */
  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, ({ path: checked }) => {
      assertStatChanges(checked, changes)
      const way = { ...toLinkOptions(ctx), follow: changes.ofLink !== true }
      this.#tree.runAt({ op: 'setattr', path: checked }, way, (place) =>
        setAttributes(place, getEntry(place), changes),
      )
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, (asked) =>
      // All of it before the file is touched: a source that fails adds nothing.
      this.#append({ op: 'append', path: asked.path }, collect(asked.content), ctx),
    )
  }

  protected override async doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.#find({ op: 'exists', path }, { ...toLinkOptions(ctx), follow: false }) !== undefined
  }

  protected doStat(path: string, ctx?: CallContext): Stat {
    const way = { ...toLinkOptions(ctx), follow: false }
    return this.#tree.runAt({ op: 'stat', path }, way, (place) => toStat(getEntry(place)))
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const asked: HostCall = { op: 'readdir', path }
    const directory = this.#tree.openDirectory(asked, { ...toLinkOptions(ctx), follow: true })
    let entries: DirEntry[]
    try {
      entries = await attemptAsync(asked, () => listVisibleEntries(directory, this.#tree.closed))
    } finally {
      directory.close()
    }
    for (const entry of entries) yield entry
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    ctx?.signal?.throwIfAborted()
    const asked: HostCall = { op: 'read', path }
    const way = { ...toLinkOptions(ctx), follow: true }
    const open = () => this.#tree.runAt(asked, way, (place) => openHostFile(place, constants.O_RDONLY))
    return new FileStream(open, asked, options)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const asked: HostCall = { op: 'walk', path: root }
    const open = () => this.#tree.openDirectory(asked, { ...toLinkOptions(ctx), follow: true })
    return walkHostTree(open, asked, options, this.#tree.closed)
  }

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    return this.#write({ op: 'write', path }, copyContent(content), options, ctx)
  }

  /** Decided in the write itself, between two looks at the file, so that no other process slips in. */
  protected override async assertMatch(): Promise<void> {}

  protected override doMkdir(path: string, { parents = false, mode }: MkdirOptions, ctx?: CallContext): void {
    const asked: HostCall = { op: 'mkdir', path }
    const links = toLinkOptions(ctx)
    this.#tree.runAt(asked, { ...links, follow: false, storing: true, parents }, (place) => {
      const isLink = place.entry?.isSymbolicLink() === true
      if (!parents || !isLink || !this.#leadsToDirectory(asked, links)) makeDirectory(place, parents, mode)
    })
  }

  protected override async doRemove(
    path: string,
    { recursive = false }: RemoveOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const asked: HostCall = { op: 'remove', path }
    const place = this.#tree.locateMovable(asked, { ...toLinkOptions(ctx), follow: false })
    const remove = () => attemptAsync(asked, () => removeEntry(place, recursive, ctx?.signal), ctx?.signal)
    try {
      await (place.entry?.isDirectory() ? remove() : this.#runLocked(asked, [path], false, ctx, remove))
    } finally {
      place.directory.close()
    }
  }

  async #write(
    asked: HostCall,
    content: Content,
    { parents = true, ifMatch, mode }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const way = { ...toLinkOptions(ctx), follow: true }
    const old = ifMatch === undefined || ifMatch === null ? ifMatch : this.#find(asked, way)
    if (ifMatch !== undefined) await super.assertMatch(asked.path, ifMatch, ctx)
    const place = this.#tree.locate(asked, { ...way, storing: true, parents })
    const alone = (step: () => void) => this.#runLockedIfMatch(asked, place, ifMatch, ctx, step)
    try {
      await replaceFile(place, asked, {
        content,
        mode,
        expected: old,
        signal: ctx?.signal,
        runExclusive: alone,
      })
    } finally {
      place.directory.close()
    }
  }

  /** Once the file is locked, what it was expected to be is looked at again. */
  #runLockedIfMatch(
    { path }: HostCall,
    place: ConfinedPath,
    ifMatch: string | null | undefined,
    ctx: CallContext | undefined,
    step: () => void,
  ): void | Promise<void> {
    if (this.#locks === undefined) return step()
    return this.#locks.hold([this.#locks.getKey(place)], ctx?.signal, async () => {
      if (ifMatch !== undefined) await super.assertMatch(path, ifMatch, ctx)
      step()
    })
  }

  async #append(
    asked: HostCall,
    content: Uint8Array | Promise<Uint8Array>,
    ctx: CallContext | undefined,
  ): Promise<void> {
    const bytes = await content
    const way = { ...toLinkOptions(ctx), follow: true, storing: true, parents: true }
    await this.#runLocked(asked, [asked.path], true, ctx, async () => {
      const file = this.#tree.runAt(asked, way, openToAppend)
      await attemptAsync(asked, () => appendAll(file, bytes))
    })
  }

  /** Whether a link leads to a directory; not if it leads nowhere. ELOOP. */
  #leadsToDirectory(asked: HostCall, links: ReturnType<typeof toLinkOptions>): boolean {
    try {
      return this.#tree.runAt(asked, { ...links, follow: true }, ({ entry }) => entry?.isDirectory() === true)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return false
      throw error
    }
  }

  /** Runs a change while no other process makes one at these paths. What is not there yet needs no such care. */
  #runLocked(
    asked: HostCall,
    paths: readonly string[],
    follow: boolean,
    ctx: CallContext | undefined,
    change: () => void | Promise<void>,
  ): void | Promise<void> {
    const locks = this.#locks
    if (locks === undefined) return change()
    const keys = paths.flatMap(
      (path) => this.#findKey({ ...asked, path }, { ...toLinkOptions(ctx), follow }) ?? [],
    )
    return attemptAsync(asked, () => locks.hold(keys, ctx?.signal, change), ctx?.signal)
  }

  #findKey(asked: HostCall, way: LocateOptions): string | undefined {
    return this.#ignoreMissing(() => this.#tree.runAt(asked, way, (place) => this.#locks?.getKey(place)))
  }

  #realpath(path: string, way: LocateOptions): string {
    try {
      return this.#tree.runAt({ op: 'realpath', path }, way, (place) => place.path)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT') || path === '/') throw error
      return child(this.#realpath(dirname(path), { ...way, follow: true }), basename(path))
    }
  }

  /** What is at a path, or undefined if nothing is. */
  #find(asked: HostCall, way: LocateOptions): Stats | undefined {
    return this.#ignoreMissing(() => this.#tree.runAt(asked, way, ({ entry }) => entry))
  }

  #ignoreMissing<T>(look: () => T): T | undefined {
    try {
      return look()
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
  place: ConfinedPath,
  recursive: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isDirectory = getEntry(place).isDirectory()
  if (isDirectory && !recursive) throw new HostFsFault('EISDIR')
  if (isDirectory) await removeTree(place.directory, place.name, signal)
  else await unlink(place.directory.at(place.name))
}

function getEntry({ entry }: ConfinedPath): Stats {
  if (entry === undefined) throw new HostFsFault('ENOENT')
  return entry
}
