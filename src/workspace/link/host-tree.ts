import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs'
import { type Directory, openRoot } from '../../machine/index.ts'
import type { Entry } from './entry.ts'
import { contentOf, hostEntry } from './host-entry.ts'
import { HostFailure } from './host-failure.ts'
import { isErrno } from './host-stats.ts'
import { namesOf } from './tree.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** A name in an open directory: for system calls that do not follow it. */
export interface HostPlace {
  readonly directory: Directory
  readonly name: string
}

/**
 * A directory of this machine, held open. Each path is walked from there, from one open directory to the next, and no
 * link is followed: somebody who swaps a directory for a link meanwhile leads nothing out of it.
 */
export class HostTree implements Disposable {
  /** Its real path. */
  readonly path: string
  #root: Directory | undefined

  constructor(path: string) {
    this.path = path
  }

  /** Opened at first use. ENOENT if it is gone, or its path leads elsewhere by now. */
  get root(): Directory {
    this.#root ??= openReal(this.path)
    return this.#root
  }

  /** Runs a step at a path. What is behind a link is not in the directory: ENOTDIR. Failures name the path. */
  use<T>(path: string, step: (place: HostPlace) => T): T {
    const names = namesOf(path)
    const name = names.pop() ?? '.'
    let here = this.root.share()
    try {
      for (const each of names) {
        const next = here.enter(each)
        here.close()
        here = next
      }
      return step({ directory: here, name })
    } catch (error) {
      throw HostFailure.of(error, this.path + path)
    } finally {
      here.close()
    }
  }

  /** What is at a path; undefined if there is nothing, or only a link on the way. */
  entry(path: string): Entry | undefined {
    return this.#look(path, ({ directory, name }) => hostEntry(directory.at(name), () => this.#content(path)))
  }

  stats(path: string): BigIntStats | undefined {
    return this.#look(path, ({ directory, name }) => lstatSync(directory.at(name), { bigint: true }))
  }

  /** The names in a directory; none if the path is no directory. */
  names(path: string): string[] {
    const list = ({ directory, name }: HostPlace) => {
      const listed = directory.enter(name)
      try {
        return readdirSync(listed.at('.'))
      } finally {
        listed.close()
      }
    }
    return this.#look(path, list) ?? []
  }

  [Symbol.dispose](): void {
    this.#root?.close()
  }

  #look<T>(path: string, step: (place: HostPlace) => T): T | undefined {
    try {
      return this.use(path, step)
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
      throw error
    }
  }

  *#content(path: string): Generator<Uint8Array> {
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    const fd = this.use(path, ({ directory, name }) => openSync(directory.at(name), flags))
    try {
      yield* contentOf(fd)
    } finally {
      closeSync(fd)
    }
  }
}

function openReal(path: string): Directory {
  const root = openRoot(path, undefined, undefined).guard()
  if (root.realPath() === path) return root
  root.close()
  throw new HostFailure('ENOENT', path, `ENOENT: a link took the place of '${path}'`)
}
