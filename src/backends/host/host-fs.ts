import { constants } from 'node:fs'
import { resolve } from 'node:path'
import type { RootConfinement } from '../../machine/index.ts'
import {
  type Appendable,
  type Attributed,
  assertStatChanges,
  Backend,
  type CallContext,
  type Capability,
  type Content,
  collect,
  copyContent,
  createLazyStream,
  type DirEntry,
  type HardLinkable,
  type InodeIdentity,
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
import { ConfinedTree } from './confined-tree.ts'
import { FileStream, openHostFile } from './file-stream.ts'
import { createHardLink, toIdentity } from './hard-link.ts'
import { attemptAsync, type HostCall } from './host-errors.ts'
import { listVisibleEntries, toStat } from './list-directory.ts'
import { makeDirectoryAt } from './make-directory.ts'
import { PathLocks } from './path-locks.ts'
import { getEntry, type LinkOptions } from './path-resolution.ts'
import { removeEntry } from './remove-tree.ts'
import { rename } from './rename.ts'
import { setAttributes } from './set-attributes.ts'
import { createSymlink, readSymlink, resolveLinks } from './symbolic-links.ts'
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
  readonly #locks: PathLocks
  readonly #isSynced: boolean

  /**
   * @param dir the directory that becomes `/`. It is opened at the first operation, which fails with ENOENT if it is
   * missing.
   */
  constructor(dir: string, { confinement, locks, closed, durability = 'full' }: HostFsOptions = {}) {
    super()
    this.directory = resolve(dir)
    this.#tree = new ConfinedTree(this.directory, confinement, closed)
    this.#locks = new PathLocks(this.#tree, locks === undefined ? undefined : resolve(locks))
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
      const links = toLinkOptions(ctx)
      const paths = [call.path, call.to]
      const change = () => rename(this.#tree, call.path, call.to, options, links)
      const locked: HostCall = { op: 'rename', path: call.path }
      return this.#locks.hold(locked, paths, { ...links, follow: false }, ctx?.signal, change)
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, (call) =>
      createSymlink(this.#tree, call.path, target, toLinkOptions(ctx)),
    )
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked) => readSymlink(this.#tree, checked, toLinkOptions(ctx)))
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    const lookup = { ...toLinkOptions(ctx), follow: followLast, lenient: true }
    return this.call('realpath', path, ctx, (checked) => resolveLinks(this.#tree, checked, lookup))
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
    const lookup = { ...toLinkOptions(ctx), follow: false }
    return this.#tree.runIfPresent({ op: 'exists', path }, lookup, ({ entry }) => entry) !== undefined
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

  protected override async doWrite(
    path: string,
    content: Content,
    { parents = true, ifMatch, mode }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const call: HostCall = { op: 'write', path }
    const copied = copyContent(content)
    const lookup = { ...toLinkOptions(ctx), follow: true }
    const isVersion = typeof ifMatch === 'string'
    const expected = isVersion ? this.#tree.runIfPresent(call, lookup, ({ entry }) => entry) : ifMatch
    const check = ifMatch === undefined ? undefined : () => super.assertMatch(path, ifMatch, ctx)
    if (check !== undefined) await check()
    const located = this.#tree.locate(call, { ...lookup, storing: true, parents })
    const { signal } = ctx ?? {}
    // The version may have changed before the file is locked.
    const runExclusive = (step: () => void) => this.#locks.holdChecked(located, signal, check, step)
    const isSynced = this.#isSynced
    try {
      await replaceFile(located, call, { content: copied, mode, expected, signal, isSynced, runExclusive })
    } finally {
      located.directory.close()
    }
  }

  /** Checks nothing: the write itself compares the file, so that a change by another process in between is noticed. */
  protected override async assertMatch(): Promise<void> {}

  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void {
    makeDirectoryAt(this.#tree, path, options, toLinkOptions(ctx))
  }

  protected override async doRemove(
    path: string,
    { recursive = false }: RemoveOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const call: HostCall = { op: 'remove', path }
    const lookup = { ...toLinkOptions(ctx), follow: false }
    const located = this.#tree.locateMovable(call, lookup)
    const remove = () => attemptAsync(call, () => removeEntry(located, recursive, ctx?.signal), ctx?.signal)
    try {
      if (located.entry?.isDirectory()) await remove()
      else await this.#locks.hold(call, [path], lookup, ctx?.signal, remove)
    } finally {
      located.directory.close()
    }
  }

  async #append(
    call: HostCall,
    content: Uint8Array | Promise<Uint8Array>,
    ctx: CallContext | undefined,
  ): Promise<void> {
    const bytes = await content
    const lookup = { ...toLinkOptions(ctx), follow: true }
    await this.#locks.hold(call, [call.path], lookup, ctx?.signal, async () => {
      const file = this.#tree.runAt(call, { ...lookup, storing: true, parents: true }, openToAppend)
      await attemptAsync(call, () => appendAll(file, bytes))
    })
  }
}

function toLinkOptions(ctx: CallContext | undefined): LinkOptions {
  return ctx?.links === 'refuse' ? { linkFree: true } : {}
}
