import { join } from 'node:path/posix'
import { child, type DirEntry } from '../../../vfs/index.ts'
import { type Coroutine, waitFor } from '../coroutine.ts'
import { Dirent } from '../dirent.ts'
import { type FsContext, resolvePath, withNodeErrors } from '../fs-context.ts'
import type { DirectoryCursor } from '../fs-driver.ts'
import { definePathOperation, type FsOperation } from '../fs-operation.ts'
import { encodeName, isOptionSet, parsePath } from '../parse-arguments.ts'

/** An entry with its directory relative to the listed one. */
interface ListedName extends DirEntry {
  readonly prefix: string
}

export const readdir: FsOperation<(string | Buffer | Dirent)[]> = function* (context, given, options) {
  const entries = yield* scanDirectory(context, given, options)
  if (!isOptionSet(options, 'withFileTypes'))
    return entries.map(({ prefix, name }) => encodeName(join(prefix, name), options))
  const top = parsePath(given)
  return entries.map(
    ({ prefix, name, type }) =>
      new Dirent(encodeName(name, options), prefix === '' ? top : join(top, prefix), type),
  )
}

const scanDirectory = definePathOperation<ListedName[]>('scandir', function* (context, path, options) {
  const isRecursive = isOptionSet(options, 'recursive')
  const found: ListedName[] = []
  const pending = [{ directory: path, prefix: '' }]
  for (let level = pending.shift(); level; level = pending.shift()) {
    for (const entry of yield* waitFor(context.driver.readdir(level.directory))) {
      found.push({ ...entry, prefix: level.prefix })
      if (isRecursive && entry.type === 'directory') {
        pending.push({
          directory: child(level.directory, entry.name),
          prefix: join(level.prefix, entry.name),
        })
      }
    }
  }
  return found
})

/** Opens a listing to read entry by entry. Errors of opening are thrown now, not with the first entry. */
export function* openListing(context: FsContext, given: unknown, options: unknown): Coroutine<DirentReader> {
  const path = parsePath(given)
  const call = { syscall: 'opendir', path }
  return yield* withNodeErrors(context, call, beginListing(context, path, isOptionSet(options, 'recursive')))
}

function* beginListing(context: FsContext, path: string, isRecursive: boolean): Coroutine<DirentReader> {
  const resolvedPath = yield* resolvePath(context, path)
  const cursor = yield* waitFor(context.driver.list(resolvedPath))
  const reader = new DirentReader(context, cursor, { resolvedPath, path }, isRecursive)
  yield* reader.prefetch()
  return reader
}

interface ListedDirectory {
  readonly resolvedPath: string
  /** Path as reported. */
  readonly path: string
}

/** Reads the entries of a directory, and of its subdirectories if recursive. */
export class DirentReader {
  readonly #context: FsContext
  readonly #isRecursive: boolean
  readonly #pending: ListedDirectory[] = []
  #level: ListedDirectory
  #cursor: DirectoryCursor | undefined
  #nextEntry: DirEntry | undefined

  constructor(context: FsContext, cursor: DirectoryCursor, level: ListedDirectory, isRecursive: boolean) {
    this.#context = context
    this.#cursor = cursor
    this.#level = level
    this.#isRecursive = isRecursive
  }

  /** True if its entries are available synchronously. */
  get isSync(): boolean {
    return this.#cursor?.isSync ?? true
  }

  /** Fetches the next entry ahead. At open, this reports a missing directory. */
  *prefetch(): Coroutine<void> {
    this.#nextEntry = yield* waitFor(this.#cursor?.next())
  }

  *next(): Coroutine<Dirent | undefined> {
    for (let entry = this.#nextEntry; ; entry = this.#nextEntry) {
      if (entry !== undefined) return yield* this.#toDirent(entry)
      const level = this.#pending.shift()
      if (level === undefined) return undefined
      this.#level = level
      this.#cursor = yield* waitFor(this.#context.driver.list(level.resolvedPath))
      yield* this.prefetch()
    }
  }

  *close(): Coroutine<void> {
    yield* waitFor(this.#cursor?.close())
    this.#cursor = undefined
  }

  *#toDirent(entry: DirEntry): Coroutine<Dirent> {
    const { resolvedPath, path } = this.#level
    if (this.#isRecursive && entry.type === 'directory') {
      this.#pending.push({ resolvedPath: child(resolvedPath, entry.name), path: join(path, entry.name) })
    }
    yield* this.prefetch()
    return new Dirent(entry.name, path, entry.type)
  }
}
