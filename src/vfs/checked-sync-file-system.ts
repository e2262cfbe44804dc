import { VfsError } from './error.ts'
import { innerContext, isTraced, traceSync, type VfsEvent, type VfsOperation } from './events.ts'
import type { CallContext, DirEntry, MkdirOptions, RemoveOptions } from './file-system.ts'
import { checkPath } from './path.ts'
import type { OpenOptions, RealpathOptions, RenameOptions, StatChanges } from './protocols.ts'
import type { SyncFileHandle, SyncFileSystem, SyncStat } from './sync-file-system.ts'

/**
 * The public methods that all our synchronous file systems share. Each method checks its paths, honours the signal,
 * emits the event and calls the `do…` method of the subclass with canonical paths. The root never arrives in `doMkdir`,
 * `doRemove` or `doRmdir`.
 */
export abstract class CheckedSyncFileSystem implements SyncFileSystem {
  protected abstract doStat(path: string, ctx?: CallContext): SyncStat
  protected abstract doReaddir(path: string, ctx?: CallContext): DirEntry[]
  protected abstract doOpen(path: string, options: OpenOptions, ctx?: CallContext): SyncFileHandle
  protected abstract doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void
  protected abstract doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void
  protected abstract doRmdir(path: string, ctx?: CallContext): void
  protected abstract doRename(from: string, to: string, options: RenameOptions, ctx?: CallContext): void
  protected abstract doSymlink(target: string, path: string, ctx?: CallContext): void
  protected abstract doReadlink(path: string, ctx?: CallContext): string
  protected abstract doRealpath(path: string, options: RealpathOptions, ctx?: CallContext): string
  protected abstract doLink(existing: string, path: string, ctx?: CallContext): void
  protected abstract doSetattr(path: string, changes: StatChanges, ctx?: CallContext): void

  /** Throws if nothing can be changed. A layer over several file systems leaves this check to them. */
  protected assertMutable(_op: VfsOperation, _path: string): void {}

  stat(path: string, ctx?: CallContext): SyncStat {
    return this.#call('stat', path, ctx, (checked, inner) => this.doStat(checked, inner))
  }

  readdir(path: string, ctx?: CallContext): DirEntry[] {
    return this.#call('readdir', path, ctx, (checked, inner, event) => {
      const entries = this.doReaddir(checked, inner)
      if (event !== undefined) event.entries = entries.length
      return entries
    })
  }

  open(path: string, options: OpenOptions = {}, ctx?: CallContext): SyncFileHandle {
    return this.#call('open', path, ctx, (checked, inner) => {
      if (options.write || options.create || options.truncate) this.assertMutable('open', checked)
      return this.doOpen(checked, options, inner)
    })
  }

  mkdir(path: string, options: MkdirOptions = {}, ctx?: CallContext): void {
    this.#change('mkdir', path, ctx, (checked, inner) => {
      if (checked !== '/') this.doMkdir(checked, options, inner)
      else if (!options.parents) throw new VfsError('EEXIST', checked, { op: 'mkdir' })
    })
  }

  remove(path: string, options: RemoveOptions = {}, ctx?: CallContext): void {
    this.#change('remove', path, ctx, (checked, inner) => {
      assertNotRoot(checked, 'remove')
      this.doRemove(checked, options, inner)
    })
  }

  rmdir(path: string, ctx?: CallContext): void {
    this.#change('rmdir', path, ctx, (checked, inner) => {
      assertNotRoot(checked, 'rmdir')
      this.doRmdir(checked, inner)
    })
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): void {
    const target = checkPath(to, 'rename')
    this.#change('rename', from, ctx, (checked, inner) => this.doRename(checked, target, options, inner))
  }

  symlink(target: string, path: string, ctx?: CallContext): void {
    this.#change('symlink', path, ctx, (checked, inner) => this.doSymlink(target, checked, inner))
  }

  readlink(path: string, ctx?: CallContext): string {
    return this.#call('readlink', path, ctx, (checked, inner) => this.doReadlink(checked, inner))
  }

  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): string {
    return this.#call('realpath', path, ctx, (checked, inner) => this.doRealpath(checked, options, inner))
  }

  link(existing: string, path: string, ctx?: CallContext): void {
    const newPath = checkPath(path, 'link')
    this.#change('link', existing, ctx, (checked, inner) => this.doLink(checked, newPath, inner))
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    this.#change('setattr', path, ctx, (checked, inner) => this.doSetattr(checked, changes, inner))
  }

  #call<T>(op: VfsOperation, path: string, ctx: CallContext | undefined, run: Run<T>): T {
    const checked = checkPath(path, op)
    ctx?.signal?.throwIfAborted()
    if (isTraced(op, ctx)) return traceSync(op, checked, ctx, (inner, event) => run(checked, inner, event))
    return run(checked, innerContext(ctx))
  }

  #change<T>(op: VfsOperation, path: string, ctx: CallContext | undefined, run: Run<T>): T {
    return this.#call(op, path, ctx, (checked, inner) => {
      this.assertMutable(op, checked)
      return run(checked, inner)
    })
  }
}

type Run<T> = (path: string, ctx: CallContext | undefined, event?: VfsEvent) => T

function assertNotRoot(path: string, op: string): void {
  if (path === '/') throw new VfsError('EINVAL', path, { op, detail: 'the root cannot be removed' })
}
