import { join } from 'node:path/posix'
import { child, type DirEntry } from '../../../vfs/index.ts'
import { isSet, named, pathText } from '../arguments.ts'
import { Dirent } from '../dirent.ts'
import type { Names } from '../ground.ts'
import { type Operation, onPath } from '../operation.ts'
import { located, type Site, told } from '../site.ts'
import { type Steps, settled } from '../steps.ts'

/** One name of a listing, and the directory it is in as seen from the one that was asked for. */
interface Found extends DirEntry {
  readonly below: string
}

export const readdir: Operation<(string | Buffer | Dirent)[]> = function* (site, given, options) {
  const entries = yield* listed(site, given, options)
  if (!isSet(options, 'withFileTypes'))
    return entries.map(({ below, name }) => named(join(below, name), options))
  const top = pathText(given)
  return entries.map(
    ({ below, name, type }) => new Dirent(named(name, options), below === '' ? top : join(top, below), type),
  )
}

const listed = onPath<Found[]>('scandir', function* (site, path, options) {
  const isRecursive = isSet(options, 'recursive')
  const found: Found[] = []
  const pending = [{ at: path, below: '' }]
  for (let place = pending.shift(); place; place = pending.shift()) {
    for (const entry of yield* settled(site.ground.readdir(place.at))) {
      found.push({ ...entry, below: place.below })
      if (isRecursive && entry.type === 'directory') {
        pending.push({ at: child(place.at, entry.name), below: join(place.below, entry.name) })
      }
    }
  }
  return found
})

/** A listing that is read name by name. Errors of opening come now, not with the first name. */
export function* openListing(site: Site, given: unknown, options: unknown): Steps<DirectoryNames> {
  const path = pathText(given)
  const asked = { syscall: 'opendir', path }
  return yield* told(site, asked, beginListing(site, path, isSet(options, 'recursive')))
}

function* beginListing(site: Site, path: string, isRecursive: boolean): Steps<DirectoryNames> {
  const at = yield* located(site, path)
  const names = yield* settled(site.ground.list(at))
  const listing = new DirectoryNames(site, names, { at, path }, isRecursive)
  yield* listing.lookAhead()
  return listing
}

interface Place {
  readonly at: string
  /** As it is told. */
  readonly path: string
}

/** The names of a directory, and of those below it, one after another. */
export class DirectoryNames {
  readonly #site: Site
  readonly #isRecursive: boolean
  readonly #pending: Place[] = []
  #place: Place
  #names: Names | undefined
  #ahead: DirEntry | undefined

  constructor(site: Site, names: Names, place: Place, isRecursive: boolean) {
    this.#site = site
    this.#names = names
    this.#place = place
    this.#isRecursive = isRecursive
  }

  /** Whether its names are at hand. */
  get isSync(): boolean {
    return this.#names?.isSync ?? true
  }

  /** A missing directory is told by its first name, which is why it is fetched when the directory is opened. */
  *lookAhead(): Steps<void> {
    this.#ahead = yield* settled(this.#names?.next())
  }

  *next(): Steps<Dirent | undefined> {
    for (let entry = this.#ahead; ; entry = this.#ahead) {
      if (entry !== undefined) return yield* this.#told(entry)
      const place = this.#pending.shift()
      if (place === undefined) return undefined
      this.#place = place
      this.#names = yield* settled(this.#site.ground.list(place.at))
      yield* this.lookAhead()
    }
  }

  *close(): Steps<void> {
    yield* settled(this.#names?.close())
    this.#names = undefined
  }

  *#told(entry: DirEntry): Steps<Dirent> {
    const { at, path } = this.#place
    if (this.#isRecursive && entry.type === 'directory') {
      this.#pending.push({ at: child(at, entry.name), path: join(path, entry.name) })
    }
    yield* this.lookAhead()
    return new Dirent(entry.name, path, entry.type)
  }
}
