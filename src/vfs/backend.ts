import { CheckedFileSystem, type CheckedMutation } from './checked-file-system.ts'
import { composeWalk } from './compose-walk.ts'
import { isVfsError, VfsError } from './error.ts'
import type {
  CallContext,
  Content,
  DirEntry,
  MaterializeOptions,
  MkdirOptions,
  RemoveOptions,
  WalkEntry,
  WalkOptions,
  WriteOptions,
} from './file-system.ts'
import { PathMutex } from './path-mutex.ts'
import { createSha256 } from './runtime.ts'
import { copyContent, createFailedStream } from './streams.ts'

/**
 * The base class for a backend. An author implements `capabilities`, `doStat`, `doReaddir` and `doRead`; a writable
 * backend also implements `doWrite`, `doMkdir` and `doRemove`. `exists`, `walk` and `materialize` are inherited.
 *
 * Paths arrive canonical and storable. The root never arrives in `doWrite`, `doMkdir` or `doRemove`. Mutations of one
 * path arrive one after another. The caller still owns the content, so keep a copy (`collect` makes one).
 */
export abstract class Backend extends CheckedFileSystem {
  readonly #mutex = new PathMutex()

  protected doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    return this.#hasStat(path, ctx)
  }

  protected doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const readdir = (path: string) => {
      try {
        return this.doReaddir(path, ctx)
      } catch (error) {
        return createFailedStream<DirEntry>(error)
      }
    }
    const stat = async (path: string) => this.doStat(path, ctx)
    return composeWalk({ readdir, stat }, root, options, ctx)
  }

  protected doMaterialize(_options: MaterializeOptions, _ctx?: CallContext): void | Promise<void> {}

  protected doWrite(
    path: string,
    _content: Content,
    _options: WriteOptions,
    _ctx?: CallContext,
  ): void | Promise<void> {
    throw createMissingMethodError('write', 'doWrite', path)
  }

  protected doMkdir(path: string, _options: MkdirOptions, _ctx?: CallContext): void | Promise<void> {
    throw createMissingMethodError('mkdir', 'doMkdir', path)
  }

  protected doRemove(path: string, _options: RemoveOptions, _ctx?: CallContext): void | Promise<void> {
    throw createMissingMethodError('remove', 'doRemove', path)
  }

  /** Compares content hashes. A backend with cheaper versions overrides this. */
  protected override assertMatch(
    path: string,
    ifMatch: string | null,
    ctx?: CallContext,
  ): void | Promise<void> {
    return this.#assertHash(path, ifMatch, ctx)
  }

  async #hasStat(path: string, ctx?: CallContext): Promise<boolean> {
    try {
      await this.doStat(path, ctx)
      return true
    } catch (error) {
      if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return false
      throw error
    }
  }

  async #assertHash(path: string, ifMatch: string | null, ctx?: CallContext): Promise<void> {
    assertSameVersion(path, await this.#hashIfPresent(path, ctx), ifMatch)
  }

  async #hashIfPresent(path: string, ctx?: CallContext): Promise<string | null> {
    try {
      const state = createSha256()
      for await (const chunk of this.doRead(path, {}, ctx)) state.update(chunk)
      return state.digest('hex')
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return null
      throw error
    }
  }

  protected override runInOrder<T>(
    mutation: CheckedMutation,
    run: (mutation: CheckedMutation) => T | Promise<T>,
  ): T | Promise<T> {
    const { path, to } = mutation
    const secondPath = to === '' ? undefined : to
    if (this.#mutex.isBusy(path) || (secondPath !== undefined && this.#mutex.isBusy(secondPath))) {
      // The caller may change its buffer while this mutation waits for an earlier one.
      const owned = { ...mutation, content: copyContent(mutation.content) }
      return this.#mutex.run(path, secondPath, () => run(owned))
    }
    const result = run(mutation)
    if (!(result instanceof Promise) || this.isAppliedAtOnce(mutation)) return result
    return this.#mutex.run(path, secondPath, () => result)
  }

  /**
   * Reports whether a mutation is applied before the call returns, though its promise resolves later. Then the next one
   * of its path need not wait.
   */
  protected isAppliedAtOnce(_mutation: CheckedMutation): boolean {
    return false
  }
}

/** Throws ECONFLICT unless the stored version is the expected one. Null means that no file exists. */
export function assertSameVersion(path: string, actual: string | null, expected: string | null): void {
  if (actual === expected) return
  const has = actual === null ? 'there is no file' : `the file is at ${actual}`
  const wants = expected === null ? 'no file' : expected
  throw new VfsError('ECONFLICT', path, { op: 'write', detail: `${has}, the write expects ${wants}` })
}

function createMissingMethodError(op: string, method: string, path: string): VfsError {
  const detail = `the backend has the capability to write, but no method ${method}`
  return new VfsError('ENOTSUP', path, { op, detail })
}
