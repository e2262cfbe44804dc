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
import { isMissing, parseAgentPath, statFollowed } from './agent-path.ts'
import { getErrorMessage } from './error-message.ts'
import { getMimeType, isText } from './mime-type.ts'
import type { FileInfo, FilesResult, GrepMatch, GrepResult } from './protocol.ts'

/** Listings: directories, names that match a pattern, lines that contain a text. A missing path lists nothing. */
export class Listings {
  readonly #fs: FileSystem
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem, ctx: CallContext | undefined) {
    this.#fs = fs
    this.#ctx = ctx
  }

  async ls(path: string): Promise<FilesResult> {
    try {
      const directory = parseAgentPath(path)
      const files: FileInfo[] = []
      if ((await statFollowed(this.#fs, directory, this.#ctx))?.type !== 'directory') return { files }
      for await (const { name } of this.#fs.readdir(directory, this.#ctx)) {
        const childPath = child(directory, name)
        const stat = await statFollowed(this.#fs, childPath, this.#ctx)
        if (stat?.type === 'file') files.push(toFileInfo(childPath, stat))
        if (stat?.type === 'directory') files.push(toFileInfo(`${childPath}/`, stat))
      }
      return { files: files.sort(compareByPath) }
    } catch (error) {
      return isMissing(error)
        ? { files: [] }
        : { error: `Error listing '${path}': ${getErrorMessage(error)}` }
    }
  }

  async glob(pattern: string, path: string): Promise<FilesResult> {
    try {
      const cwd = parseAgentPath(path)
      const files: FileInfo[] = []
      // Models write '/src/*.ts' for 'src/*.ts'. The dot keeps such patterns, also in braces, below the given path.
      for await (const { path: match } of glob(this.#fs, `./${pattern}`, { cwd }, this.#ctx)) {
        const stat = await statFollowed(this.#fs, match, this.#ctx)
        if (stat?.type === 'file') files.push(toFileInfo(match, stat))
      }
      return { files: files.sort(compareByPath) }
    } catch (error) {
      return isMissing(error)
        ? { files: [] }
        : { error: `Error searching '${path}': ${getErrorMessage(error)}` }
    }
  }

  async grep(pattern: string, path: string, fileGlob: string | null, maxCount: number): Promise<GrepResult> {
    const matches: GrepMatch[] = []
    try {
      const root = parseAgentPath(path)
      for await (const match of grep(this.#fs, root, pattern, this.#ctx)) {
        if (!isText(getMimeType(match.path)) || !matchesFilter(match.path, root, fileGlob)) continue
        if (matches.length >= maxCount) return { matches, truncated: true }
        matches.push({ path: match.path, line: match.line, text: match.text })
      }
      return { matches }
    } catch (error) {
      return isMissing(error)
        ? { matches }
        : { error: `Error searching '${path}': ${getErrorMessage(error)}` }
    }
  }
}

/** Matches names if the pattern has no slash, otherwise paths relative to the search. A file is relative to its directory. */
function matchesFilter(path: string, root: string, pattern: string | null): boolean {
  if (pattern === null || pattern === '') return true
  const relative = pattern.includes('/') ? relativeTo(path, root) : ''
  return matchesGlob(`/${relative || basename(path)}`, `/${pattern}`)
}

function toFileInfo(path: string, { type, size, mtime }: Stat): FileInfo {
  const isDirectory = type === 'directory'
  return { path, is_dir: isDirectory, size: isDirectory ? 0 : size, modified_at: mtime.toISOString() }
}

function compareByPath(one: FileInfo, other: FileInfo): number {
  return one.path.localeCompare(other.path)
}
