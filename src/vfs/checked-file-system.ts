import { assertContent } from './assert-content.ts'
import { VfsError } from './error.ts'
import {
  innerContext,
  isTraced,
  measureContent,
  traceCall,
  traceStream,
  type VfsOperation,
} from './events.ts'
import type {
  CallContext,
  Capability,
  Content,
  DirEntry,
  FileSystem,
  MaterializeOptions,
  MkdirOptions,
  ReadOptions,
  RemoveOptions,
  Stat,
  WalkEntry,
  WalkOptions,
  WriteOptions,
} from './file-system.ts'
import { checkPath } from './path.ts'
import { createUnsupportedError } from './require-protocol.ts'
import { abortable, abortableContent, copyContent, createFailedStream } from './streams.ts'

/** A mutation of the protocol, or of one of the secondary protocols. */
export type MutationOp = Extract<
  VfsOperation,
  'write' | 'mkdir' | 'remove' | 'append' | 'rename' | 'symlink' | 'link' | 'setattr'
>

/** Arguments of a mutation before its paths are checked. */
export interface Mutation {
  readonly op: MutationOp
  readonly path: string
  /** The second path it changes: a rename's target, a hard link's new name. */
  readonly to?: string
  /** Content to store. */
  readonly content?: Content
  readonly ctx: CallContext | undefined
}

/** A mutation whose paths are canonical. */
export interface CheckedMutation {
  readonly path: string
  /** The second path; empty if there is none. */
  readonly to: string
  /** Content to store; empty if there is none. */
  readonly content: Content
  readonly ctx: CallContext | undefined
}

/**
 * The public methods that all our file systems share. Each method checks the path, honours the signal, emits the event
 * and calls the `do…` method of the subclass with a canonical path. Layers over other file systems extend this class;
 * storage extends `Backend`.
 */
export abstract class CheckedFileSystem implements FileSystem {
  abstract readonly capabilities: ReadonlySet<Capability>

  protected abstract doExists(path: string, ctx?: CallContext): boolean | Promise<boolean>
  protected abstract doStat(path: string, ctx?: CallContext): Stat | Promise<Stat>
  protected abstract doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry>
  protected abstract doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array>
  protected abstract doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry>
  protected abstract doMaterialize(options: MaterializeOptions, ctx?: CallContext): void | Promise<void>
  protected abstract doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): void | Promise<void>
  protected abstract doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void | Promise<void>
  protected abstract doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void | Promise<void>

  exists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.call('exists', path, ctx, (checked, inner) => this.doExists(checked, inner))
  }

  stat(path: string, ctx?: CallContext): Promise<Stat> {
    return this.call('stat', path, ctx, (checked, inner) => this.doStat(checked, inner))
  }

  readdir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return this.stream('readdir', path, ctx, (checked, inner) => this.doReaddir(checked, inner))
  }

  read(path: string, options: ReadOptions = {}, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return this.stream('read', path, ctx, (checked, inner) => this.doRead(checked, options, inner))
  }

  walk(root: string, options: WalkOptions = {}, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return this.stream('walk', root, ctx, (checked, inner) => {
      assertMaxDepth(checked, options.maxDepth)
      return this.doWalk(checked, options, inner)
    })
  }

  materialize(options: MaterializeOptions = {}, ctx?: CallContext): Promise<void> {
    return this.call('materialize', options.prefix ?? '/', ctx, (prefix, inner) =>
      this.doMaterialize({ prefix }, inner),
    )
  }

  write(path: string, content: Content, options: WriteOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'write', path, content, ctx }, (mutation) => {
      if (mutation.path === '/') throw new VfsError('EISDIR', mutation.path, { op: 'write' })
      if (options.ifMatch === undefined)
        return this.doWrite(mutation.path, mutation.content, options, mutation.ctx)
      const owned = copyContent(mutation.content)
      const store = () => this.doWrite(mutation.path, owned, options, mutation.ctx)
      const matched = this.assertMatch(mutation.path, options.ifMatch, mutation.ctx)
      return matched instanceof Promise ? matched.then(store) : store()
    })
  }

  mkdir(path: string, options: MkdirOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'mkdir', path, ctx }, (mutation) => {
      if (mutation.path !== '/') return this.doMkdir(mutation.path, options, mutation.ctx)
      if (!options.parents) throw new VfsError('EEXIST', mutation.path, { op: 'mkdir' })
    })
  }

  remove(path: string, options: RemoveOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'remove', path, ctx }, (mutation) => {
      if (mutation.path !== '/') return this.doRemove(mutation.path, options, mutation.ctx)
      throw new VfsError('EINVAL', mutation.path, { op: 'remove', detail: 'the root cannot be removed' })
    })
  }

  /** Throws ECONFLICT if `ifMatch` is not the stored version. A layer does not override this: the file system below checks it. */
  protected assertMatch(_path: string, _ifMatch: string | null, _ctx?: CallContext): void | Promise<void> {}

  /**
   * Throws EROFS or ENOTSUP if the capabilities exclude the mutation. A layer over several file systems overrides this
   * with no check: each of them has its own.
   */
  protected assertMutable(op: MutationOp, path: string): void {
    if (!this.capabilities.has('write')) throw new VfsError('EROFS', path, { op })
    if (op === 'mkdir' && !this.capabilities.has('mkdir')) throw createUnsupportedError(op, path)
  }

  /**
   * Runs a mutation immediately. `Backend` overrides this to run the mutations of a path one after the other; a layer does
   * not: the file system below does that.
   */
  protected runInOrder<T>(
    mutation: CheckedMutation,
    run: (mutation: CheckedMutation) => T | Promise<T>,
  ): T | Promise<T> {
    return run(mutation)
  }

  /** Checks the path and the signal, emits the event and calls `run`. Every operation with a single result, except mutations, passes here. */
  protected call<T>(
    op: VfsOperation,
    path: string,
    ctx: CallContext | undefined,
    run: (path: string, ctx: CallContext | undefined) => T | Promise<T>,
  ): Promise<T> {
    try {
      const checked = checkPath(path, op)
      ctx?.signal?.throwIfAborted()
      if (isTraced(op, ctx)) return traceCall(op, checked, ctx, (inner) => run(checked, inner))
      const result = run(checked, innerContext(ctx))
      return result instanceof Promise ? result : Promise.resolve(result)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Does what `call` does, and rejects a mutation that the capabilities exclude. Every mutation passes here. */
  protected mutate<T>(
    { op, path, to, content, ctx }: Mutation,
    run: (mutation: CheckedMutation) => T | Promise<T>,
  ): Promise<T> {
    try {
      const checked = checkPath(path, op)
      const target = to === undefined ? '' : checkPath(to, op)
      if (op === 'write' || op === 'append') assertContent(content, checked, op)
      ctx?.signal?.throwIfAborted()
      const owned = abortableContent(content ?? '', ctx?.signal)
      if (isTraced(op, ctx)) {
        return traceCall(op, checked, ctx, (inner, event) => {
          this.assertMutable(op, checked)
          const stored = content === undefined ? '' : measureContent(owned, event)
          return this.runInOrder({ path: checked, to: target, content: stored, ctx: inner }, run)
        })
      }
      this.assertMutable(op, checked)
      const result = this.runInOrder(
        { path: checked, to: target, content: owned, ctx: innerContext(ctx) },
        run,
      )
      return result instanceof Promise ? result : Promise.resolve(result)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Does what `call` does for a stream. Every streaming operation passes here. `open` is called before this returns, so
   * that a stream in memory shows the state of that moment. Every failure surfaces in the stream.
   */
  protected stream<T>(
    op: VfsOperation,
    path: string,
    ctx: CallContext | undefined,
    open: (path: string, ctx: CallContext | undefined) => AsyncIterable<T>,
  ): AsyncIterable<T> {
    try {
      const checked = checkPath(path, op)
      const source = openStream(checked, innerContext(ctx), open)
      const traced = isTraced(op, ctx) ? traceStream(op, checked, ctx, source) : source
      return ctx?.signal ? abortable(traced, ctx.signal) : traced
    } catch (error) {
      return createFailedStream(error)
    }
  }
}

function openStream<T>(
  path: string,
  ctx: CallContext | undefined,
  open: (path: string, ctx: CallContext | undefined) => AsyncIterable<T>,
): AsyncIterable<T> {
  try {
    return open(path, ctx)
  } catch (error) {
    return createFailedStream(error)
  }
}

function assertMaxDepth(path: string, maxDepth: number | undefined): void {
  if (maxDepth === undefined || maxDepth === Number.POSITIVE_INFINITY) return
  if (Number.isInteger(maxDepth) && maxDepth >= 0) return
  throw new VfsError('EINVAL', path, {
    op: 'walk',
    detail: `maxDepth is ${maxDepth}; pass an integer from 0`,
  })
}
