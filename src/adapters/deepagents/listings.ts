import {
  basename,
  type CallContext,
  child,
  type FileSystem,
  glob,
  grep,
  matchesGlob,
  relativeTo,
  type Stat,
} from '../../vfs/index.ts'
import { messageOf } from './message-of.ts'
import { isText, mimeTypeOf } from './mime-type.ts'
import { found, isMissing, placeOf } from './place.ts'
import type { FileInfo, FilesResult, GrepMatch, GrepResult } from './protocol.ts'

/** What is where: directories, names that match a pattern, lines that have a text. What is not there holds nothing. */
export class Listings {
  readonly #fs: FileSystem
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem, ctx: CallContext | undefined) {
    this.#fs = fs
    this.#ctx = ctx
  }

  async ls(path: string): Promise<FilesResult> {
    try {
      const directory = placeOf(path)
      const files: FileInfo[] = []
      if ((await found(this.#fs, directory, this.#ctx))?.type !== 'directory') return { files }
      for await (const { name } of this.#fs.readdir(directory, this.#ctx)) {
        const below = child(directory, name)
        const stat = await found(this.#fs, below, this.#ctx)
        if (stat?.type === 'file') files.push(infoOf(below, stat))
        if (stat?.type === 'directory') files.push(infoOf(`${below}/`, stat))
      }
      return { files: files.sort(byPath) }
    } catch (error) {
      return isMissing(error) ? { files: [] } : { error: `Error listing '${path}': ${messageOf(error)}` }
    }
  }

  async glob(pattern: string, path: string): Promise<FilesResult> {
    try {
      const cwd = placeOf(path)
      const files: FileInfo[] = []
      // What starts at the root is meant from where the search begins.
      const relative = pattern.replace(/^\//, '')
      for await (const { path: match } of glob(this.#fs, relative, { cwd }, this.#ctx)) {
        const stat = await found(this.#fs, match, this.#ctx)
        if (stat?.type === 'file') files.push(infoOf(match, stat))
      }
      return { files: files.sort(byPath) }
    } catch (error) {
      return isMissing(error) ? { files: [] } : { error: `Error searching '${path}': ${messageOf(error)}` }
    }
  }

  async grep(pattern: string, path: string, only: string | null, maxCount: number): Promise<GrepResult> {
    const matches: GrepMatch[] = []
    try {
      const root = placeOf(path)
      for await (const match of grep(this.#fs, root, pattern, this.#ctx)) {
        if (!isText(mimeTypeOf(match.path)) || !isMeant(match.path, root, only)) continue
        if (matches.length >= maxCount) return { matches, truncated: true }
        matches.push({ path: match.path, line: match.line, text: match.text })
      }
      return { matches }
    } catch (error) {
      return isMissing(error) ? { matches } : { error: `Error searching '${path}': ${messageOf(error)}` }
    }
  }
}

/** A pattern without a slash is for names, one with a slash for paths from where the search begins. */
function isMeant(path: string, root: string, pattern: string | null): boolean {
  if (pattern === null || pattern === '') return true
  const name = pattern.includes('/') ? (relativeTo(path, root) ?? '') : basename(path)
  return matchesGlob(`/${name}`, `/${pattern.replace(/^\//, '')}`)
}

function infoOf(path: string, { type, size, mtime }: Stat): FileInfo {
  const isDirectory = type === 'directory'
  return { path, is_dir: isDirectory, size: isDirectory ? 0 : size, modified_at: mtime.toISOString() }
}

function byPath(one: FileInfo, other: FileInfo): number {
  return one.path.localeCompare(other.path)
}
