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

export const readdir: FsOperation<(string | Buffer | Dirent)[]> = function* (site, given, options) {
  const entries = yield* scanDirectory(site, given, options)
  if (!isOptionSet(options, 'withFileTypes'))
    return entries.map(({ prefix, name }) => encodeName(join(prefix, name), options))
  const top = parsePath(given)
  return entries.map(
    ({ prefix, name, type }) =>
      new Dirent(encodeName(name, options), prefix === '' ? top : join(top, prefix), type),
  )
}

const scanDirectory = definePathOperation<ListedName[]>('scandir', function* (site, path, options) {
  const isRecursive = isOptionSet(options, 'recursive')
  const found: ListedName[] = []
  const pending = [{ at: path, prefix: '' }]
  for (let level = pending.shift(); level; level = pending.shift()) {
    for (const entry of yield* waitFor(site.driver.readdir(level.at))) {
      found.push({ ...entry, prefix: level.prefix })
      if (isRecursive && entry.type === 'directory') {
        pending.push({ at: child(level.at, entry.name), prefix: join(level.prefix, entry.name) })
      }
    }
  }
  return found
})

/** Opens a listing to read entry by entry. Errors of opening are thrown now, not with the first entry. */
export function* openListing(
  site: FsContext,
  given: unknown,
  options: unknown,
): Coroutine<DirectoryNameReader> {
  const path = parsePath(given)
  const call = { syscall: 'opendir', path }
  return yield* withNodeErrors(site, call, beginListing(site, path, isOptionSet(options, 'recursive')))
}

function* beginListing(site: FsContext, path: string, isRecursive: boolean): Coroutine<DirectoryNameReader> {
  const at = yield* resolvePath(site, path)
  const names = yield* waitFor(site.driver.list(at))
  const listing = new DirectoryNameReader(site, names, { at, path }, isRecursive)
  yield* listing.prefetch()
  return listing
}

interface ListedDirectory {
  readonly at: string
  /** Path as reported. */
  readonly path: string
}

/** Reads the entries of a directory and its subdirectories in order. */
export class DirectoryNameReader {
  readonly #site: FsContext
  readonly #isRecursive: boolean
  readonly #pending: ListedDirectory[] = []
  #level: ListedDirectory
  #cursor: DirectoryCursor | undefined
  #ahead: DirEntry | undefined

  constructor(site: FsContext, names: DirectoryCursor, level: ListedDirectory, isRecursive: boolean) {
    this.#site = site
    this.#cursor = names
    this.#level = level
    this.#isRecursive = isRecursive
  }

  /** True if its entries are available synchronously. */
  get isSync(): boolean {
    return this.#cursor?.isSync ?? true
  }

  /** Fetches the first entry at open, since only that reports a missing directory. */
  *prefetch(): Coroutine<void> {
    this.#ahead = yield* waitFor(this.#cursor?.next())
  }

  *next(): Coroutine<Dirent | undefined> {
    for (let entry = this.#ahead; ; entry = this.#ahead) {
      if (entry !== undefined) return yield* this.#toDirent(entry)
      const level = this.#pending.shift()
      if (level === undefined) return undefined
      this.#level = level
      this.#cursor = yield* waitFor(this.#site.driver.list(level.at))
      yield* this.prefetch()
    }
  }

  *close(): Coroutine<void> {
    yield* waitFor(this.#cursor?.close())
    this.#cursor = undefined
  }

  *#toDirent(entry: DirEntry): Coroutine<Dirent> {
    const { at, path } = this.#level
    if (this.#isRecursive && entry.type === 'directory') {
      this.#pending.push({ at: child(at, entry.name), path: join(path, entry.name) })
    }
    yield* this.prefetch()
    return new Dirent(entry.name, path, entry.type)
  }
}
