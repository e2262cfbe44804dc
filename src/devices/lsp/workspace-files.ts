import { realpath } from 'node:fs/promises'
import { join as joinHost } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Range } from 'vscode-languageserver-protocol/node'
import type { DeviceContext } from '../../kernel/index.ts'
import { fromUri } from '../../tools/index.ts'
import { isVfsError, isWithin, join, readText, VfsError } from '../../vfs/index.ts'

/** Access of a language server to the files of a workspace. */
export interface WorkspaceCheckout {
  /** Directory of the checkout's own files, if servers of several checkouts see theirs at the same path. */
  readonly id?: string
  /** Path of the directory on the host. */
  readonly directory: string
  /**
   * Returns the command line that starts a program there. Language servers run a project's code, such as its compiler,
   * plugins and build scripts: a caller that does not trust the workspace wraps them in a sandbox here.
   */
  wrapCommand(words: readonly string[]): readonly string[]
  /** Record of changes made while servers run; absent if the files do not change. */
  readonly changes?: CheckoutChanges
}

/** Change log of a directory, by version. */
interface CheckoutChanges {
  /** Grows with every change. */
  readonly version: number
  /** Returns the files that changed after a version. */
  since(version: number): readonly ChangedFile[]
}

/** A change of a file that a language server is notified of. */
export interface ChangedFile {
  /** Path relative to the directory, with a leading slash. */
  readonly path: string
  readonly kind: 'created' | 'changed' | 'deleted'
}

/** A reported position; lines and characters are counted from 1. */
export interface SourceLocation {
  /** Path in the workspace, a host path for files elsewhere, such as a library, or a URI that names no such file. */
  readonly file: string
  readonly line: number
  readonly character: number
  readonly end_line: number
  readonly end_character: number
  /** Trimmed text of the first line, for files in the workspace. */
  readonly text?: string
}

/** The files of a workspace as a process sees them, with their host paths. */
export class WorkspaceFiles {
  /** Path of the directory on the host. */
  readonly directory: string
  readonly #root: string
  readonly #ctx: DeviceContext
  readonly #lines = new Map<string, Promise<readonly string[]>>()

  private constructor(directory: string, root: string, ctx: DeviceContext) {
    this.directory = directory
    this.#root = root
    this.#ctx = ctx
  }

  static async open(directory: string, root: string, ctx: DeviceContext): Promise<WorkspaceFiles> {
    return new WorkspaceFiles(await resolveDirectory(directory), root, ctx)
  }

  /** Resolves a file as models write it: `src/a.ts`, `/workspace/src/a.ts` or a `vfs:` URI. EACCES outside the workspace. */
  resolvePath(given: string): string {
    const path = /^vfs:/i.test(given) ? fromUri(given) : join(this.#root, given)
    if (isWithin(path, this.#root)) return path
    const detail = `the path is not in the workspace; give a path below ${this.#root}`
    throw new VfsError('EACCES', path, { op: 'lsp', detail })
  }

  toFileUri(path: string): string {
    return pathToFileURL(joinHost(this.directory, path.slice(this.#root.length))).href
  }

  read(path: string): Promise<string> {
    return readText(this.#ctx.fs, path, undefined, this.#ctx)
  }

  async formatLocation(uri: string, range: Range): Promise<SourceLocation> {
    const file = this.#toWorkspaceFile(uri)
    const text = (await this.#getLines(file))[range.start.line]?.trim()
    return {
      file,
      line: range.start.line + 1,
      character: range.start.character + 1,
      end_line: range.end.line + 1,
      end_character: range.end.character + 1,
      ...(text !== undefined && { text }),
    }
  }

  #toWorkspaceFile(uri: string): string {
    const path = toHostPath(uri)
    if (path === undefined) return uri
    return isWithin(path, this.directory) ? `${this.#root}${path.slice(this.directory.length)}` : path
  }

  /** Reads each workspace file once, however many positions are in it; returns none for other files. */
  #getLines(file: string): Promise<readonly string[]> {
    if (!isWithin(file, this.#root)) return Promise.resolve([])
    const lines = this.#lines.get(file) ?? this.#readLines(file)
    this.#lines.set(file, lines)
    return lines
  }

  async #readLines(file: string): Promise<readonly string[]> {
    try {
      return (await this.read(file)).split('\n')
    } catch (error) {
      // The server has seen a file that the process may not see, or that was deleted.
      if (isVfsError(error)) return []
      throw error
    }
  }
}

/** Converts a URI to a path; undefined if it names no file of this machine. */
function toHostPath(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined
  try {
    return fileURLToPath(uri)
  } catch {
    // It has a host, or an encoded slash.
    return undefined
  }
}

/** Resolves the links of a directory, as servers do. EUNAVAILABLE if it does not exist. */
export async function resolveDirectory(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch (cause) {
    const detail = 'there is no checkout of the workspace for language servers to read'
    throw new VfsError('EUNAVAILABLE', directory, { op: 'lsp', detail, cause })
  }
}
