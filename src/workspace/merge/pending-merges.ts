import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Resolution } from '../../backends/vault/index.ts'
import {
  computeShortDigest,
  createTemporaryName,
  isErrno,
  listDirectoryIfPresent,
  makePrivateDirectory,
  makePrivateFile,
} from '../../machine/index.ts'
import { WriteLock } from '../link/index.ts'
import { decodePendingMerge, encodePendingMerge, type PendingMerge } from './pending-merge.ts'

const DIRECTORY = 'merges'
const SUFFIX = '.json'

/** The pending merges of a home, each a file: at most one for each vault, fork or directory that changes. */
export class PendingMerges {
  readonly #home: string
  readonly #directory: string

  constructor(home: string) {
    this.#home = home
    this.#directory = join(home, DIRECTORY)
  }

  /** Lists the merges that wait for resolutions. */
  list(): PendingMerge[] {
    return listDirectoryIfPresent(this.#directory)
      .filter((name) => name.endsWith(SUFFIX))
      .flatMap((name) => this.#read(join(this.#directory, name)) ?? [])
      .filter(({ isDone }) => isDone !== true)
  }

  /** Finds the merge into a vault, fork or directory that waits for resolutions. */
  find(target: string): PendingMerge | undefined {
    const merge = this.#read(this.#getPath(target))
    return merge?.isDone === true ? undefined : merge
  }

  /** Records a merge in place of another one into the same target. */
  async begin(merge: PendingMerge): Promise<void> {
    using _lock = await this.#acquireLock()
    this.#write(merge)
  }

  /** Records resolutions by path; undefined takes one back. Does nothing if the merge has ended meanwhile. */
  async resolve(target: string, resolutions: ReadonlyMap<string, Resolution | undefined>): Promise<void> {
    using _lock = await this.#acquireLock()
    const merge = this.find(target)
    if (merge === undefined) return
    const all = new Map(merge.resolutions)
    for (const [path, resolution] of resolutions) {
      if (resolution === undefined) all.delete(path)
      else all.set(path, resolution)
    }
    this.#write({ ...merge, resolutions: all })
  }

  /** Ends a merge that was performed. Its choices are kept for the case that it is undone. */
  async finish(merge: PendingMerge): Promise<void> {
    if (merge.resolutions.size === 0) return this.end(merge.target)
    using _lock = await this.#acquireLock()
    this.#write({ ...merge, isDone: true })
  }

  /** Makes a merge wait again that was undone; undefined if it had no conflicts, or was a merge of other sources. */
  async reopen(target: string, sources?: readonly string[]): Promise<PendingMerge | undefined> {
    using _lock = await this.#acquireLock()
    const merge = this.#read(this.#getPath(target))
    if (merge?.isDone !== true || (sources !== undefined && merge.sources.join() !== sources.join()))
      return undefined
    const pending = { ...merge, isDone: undefined }
    this.#write(pending)
    return pending
  }

  /** Ends the merge into a target, if there is one. */
  async end(target: string): Promise<void> {
    using _lock = await this.#acquireLock()
    rmSync(this.#getPath(target), { force: true })
  }

  #getPath(target: string): string {
    return join(this.#directory, `${computeShortDigest(target).slice(0, 24)}${SUFFIX}`)
  }

  #read(path: string): PendingMerge | undefined {
    try {
      return decodePendingMerge(readFileSync(path, 'utf8'))
    } catch (error) {
      // Cut off by a full disk: nothing but choices is lost.
      if (isErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  #write(merge: PendingMerge): void {
    makePrivateDirectory(this.#directory)
    const path = this.#getPath(merge.target)
    const temporary = join(this.#directory, createTemporaryName())
    makePrivateFile(temporary)
    writeFileSync(temporary, encodePendingMerge(merge))
    renameSync(temporary, path)
  }

  #acquireLock(): Promise<WriteLock> {
    return WriteLock.acquire(this.#home, this.#home)
  }
}
