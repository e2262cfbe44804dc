import type { FsStat } from 'just-bash'
import {
  type CallContext,
  type DirEntry,
  type FileSystem,
  isLinkable,
  isVfsError,
  readFile,
  trySync,
  VfsError,
} from '../../vfs/index.ts'
import { isMissing } from './call-error.ts'
import { describePath, toFsStat } from './file-stat.ts'
import { followLinks } from './follow-links.ts'
import type { SystemFiles } from './system-files.ts'

/** Number of views so far. It is the device number of the newest, so that files of two views differ. */
let viewCount = 0

/** The view of a script: a file system merged with the shell's own files. */
export class ShellView {
  readonly #fs: FileSystem
  readonly #system: SystemFiles
  readonly #ctx: CallContext | undefined
  readonly #device = ++viewCount

  constructor(fs: FileSystem, system: SystemFiles, ctx: CallContext | undefined) {
    this.#fs = fs
    this.#system = system
    this.#ctx = ctx
  }

  /** Reads a whole file. ENOENT, EISDIR. */
  read(path: string): Promise<Uint8Array> {
    return this.#lookUp(path, async (candidate) => {
      const own = this.#system.get(candidate)
      return own instanceof Uint8Array ? own : readFile(this.#fs, candidate, undefined, this.#ctx)
    })
  }

  /** Returns the stat of a path with links followed. ENOENT, ELOOP. */
  stat(path: string): Promise<FsStat> {
    return this.#lookUp(path, async (candidate) => {
      const stat = await this.lstat(candidate)
      if (!stat.isSymbolicLink) return stat
      return this.lstat(await this.#realpath(candidate))
    })
  }

  /** Returns the stat of a path without following a link. ENOENT. */
  async lstat(path: string): Promise<FsStat> {
    const own = this.#system.get(path)
    if (own instanceof Uint8Array) return this.#getSystemStat(path)
    try {
      return await describePath(this.#fs, path, this.#device, this.#ctx)
    } catch (error) {
      if (own === undefined || !isMissing(error)) throw error
      return this.#getSystemStat(path)
    }
  }

  /** True if a path leads to anything. False if it is unreadable or a cycle of links. */
  async exists(path: string): Promise<boolean> {
    if (this.#system.get(path) !== undefined) return true
    try {
      // Check first: most paths a shell probes are missing, and an error costs more than a result.
      if (!(await this.#fs.exists(path, this.#ctx))) return await this.#leadsToSystemFile(path)
      if (isLinkable(this.#fs)) await this.stat(path)
      return true
    } catch (error) {
      if (isMissing(error) || isVfsError(error, 'ELOOP') || isVfsError(error, 'EACCES')) return false
      if (isVfsError(error, 'EINVAL')) return false
      throw error
    }
  }

  /** Lists a directory, sorted. ENOENT, ENOTDIR. */
  readdir(path: string): Promise<DirEntry[]> {
    return this.#lookUp(path, async (candidate) => {
      if (!this.#system.isDirectory(candidate)) return this.#list(candidate)
      const own = this.#system.listNames(candidate).map((name) => this.#getSystemEntry(candidate, name))
      const others = await this.#list(candidate).catch((error) => {
        if (isMissing(error)) return []
        throw error
      })
      const merged = new Map([...others, ...own].map((entry) => [entry.name, entry]))
      return [...merged.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
    })
  }

  /** Resolves all links of a path. ENOENT if nothing is there. */
  async realpath(path: string): Promise<string> {
    const real = await this.#realpath(path)
    await this.lstat(real)
    return real
  }

  /**
   * Looks a path up, and again with its links resolved if the file system has nothing there: a link may
   * lead to a file of the shell.
   */
  async #lookUp<T>(path: string, run: (path: string) => Promise<T>): Promise<T> {
    try {
      return await run(path)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      if (!(await this.#leadsToSystemFile(path))) throw error
      return run(await this.#realpath(path))
    }
  }

  async #leadsToSystemFile(path: string): Promise<boolean> {
    const real = await this.#realpath(path)
    return real !== path && this.#system.get(real) !== undefined
  }

  async #realpath(path: string): Promise<string> {
    return this.#system.isFile(path) ? path : followLinks(this.#fs, path, this.#ctx)
  }

  async #list(path: string): Promise<DirEntry[]> {
    const syncEntries = trySync(this.#fs, (sync) => sync.readdir(path, this.#ctx))
    return syncEntries ?? Array.fromAsync(this.#fs.readdir(path, this.#ctx))
  }

  #getSystemStat(path: string): FsStat {
    const own = this.#system.get(path)
    if (own === undefined) throw new VfsError('ENOENT', path, { op: 'stat' })
    const isFile = own instanceof Uint8Array
    const type = isFile ? 'file' : 'directory'
    const stat = { type, size: isFile ? own.length : 0, mode: null, mtime: this.#system.createdAt } as const
    return toFsStat(stat, { identity: `shell:${path}` })
  }

  #getSystemEntry(directory: string, name: string): DirEntry {
    const isFile = this.#system.isFile(directory === '/' ? `/${name}` : `${directory}/${name}`)
    return { name, type: isFile ? 'file' : 'directory' }
  }
}
