import { realpath } from 'node:fs/promises'
import { join as joinHost } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Range } from 'vscode-languageserver-protocol/node'
import type { DeviceContext } from '../../kernel/index.ts'
import { fromUri } from '../../tools/index.ts'
import { isVfsError, isWithin, join, readText, VfsError } from '../../vfs/index.ts'

/** The files of a workspace as a language server gets to them. */
export interface WorkspaceCheckout {
  /** On this machine. */
  readonly directory: string
  /**
   * The words that start a program there. Language servers run what they find in a project, such as its own compiler,
   * plugins and build scripts: whoever does not trust the workspace encloses them here.
   */
  wrapCommand(words: readonly string[]): readonly string[]
  /** What changes in it while servers are at work; absent where nothing does. */
  readonly changes?: CheckoutChanges
}

/** What changed in a directory, by versions of it. */
interface CheckoutChanges {
  /** Grows with every change. */
  readonly version: number
  /** The files that changed after a version. */
  since(version: number): readonly ChangedFile[]
}

export interface ChangedFile {
  /** Seen from the directory, with a leading slash. */
  readonly path: string
  readonly kind: 'created' | 'changed' | 'deleted'
}

/** A place in a file as it is told: lines and characters are counted from 1. */
export interface SourceLocation {
  /** In the workspace, or a path of this machine for what is elsewhere, such as a library. */
  readonly file: string
  readonly line: number
  readonly character: number
  readonly end_line: number
  readonly end_character: number
  /** The line itself, of files in the workspace. */
  readonly text?: string
}

/** The files of a workspace as a process sees them, and where a language server finds them. */
export class WorkspaceFiles {
  /** On this machine. */
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

  /** A file as models write it: `src/a.ts`, `/workspace/src/a.ts` or a URI. EACCES for one elsewhere. */
  resolvePath(given: string): string {
    const path = /^vfs:/i.test(given) ? fromUri(given) : join(this.#root, given)
    if (isWithin(path, this.#root)) return path
    const detail = `it is not in the workspace; give a path below ${this.#root}`
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
    if (!uri.startsWith('file:')) return uri
    const path = fileURLToPath(uri)
    return isWithin(path, this.directory) ? `${this.#root}${path.slice(this.directory.length)}` : path
  }

  /** Each file is read once, however many places are in it. What is elsewhere is not read. */
  #getLines(file: string): Promise<readonly string[]> {
    if (!isWithin(file, this.#root)) return Promise.resolve([])
    const known = this.#lines.get(file) ?? this.#readLines(file)
    this.#lines.set(file, known)
    return known
  }

  async #readLines(file: string): Promise<readonly string[]> {
    try {
      return (await this.read(file)).split('\n')
    } catch (error) {
      // The server has seen a file that the process may not see, or that is gone.
      if (isVfsError(error)) return []
      throw error
    }
  }
}

/** A directory as servers tell of it: without links. EUNAVAILABLE if it is not there. */
export async function resolveDirectory(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch (cause) {
    const detail = 'there is no checkout of the workspace for language servers to read'
    throw new VfsError('EUNAVAILABLE', directory, { op: 'lsp', detail, cause })
  }
}
