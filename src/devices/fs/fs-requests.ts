import { getCallerContext } from '../../access/index.ts'
import type { DeviceContext } from '../../kernel/index.ts'
import {
  createToolRegistry,
  fromUri,
  type ToolNamespace,
  type ToolRegistry,
  toUri,
} from '../../tools/index.ts'
import { type FileSystem, isWithin, join, VfsError } from '../../vfs/index.ts'

/** Operations of a request, each with the tool that runs it. */
export const operations = {
  read: 'file_read',
  head: 'file_head',
  tail: 'file_tail',
  lines: 'file_lines',
  write: 'write_file',
  edit: 'file_edit',
  list: 'vfs_list',
  info: 'vfs_info',
  copy: 'vfs_copy',
  move: 'vfs_move',
  mkdir: 'vfs_mkdir',
  delete: 'vfs_delete',
  glob: 'file_glob',
  grep: 'file_grep',
} as const

export type FsToolName = (typeof operations)[keyof typeof operations]

/** Arguments of tools that are paths. */
export const PATH_ARGUMENTS = ['path', 'src', 'dst'] as const

/** Answers the requests of one process. */
export class FsRequests {
  readonly fs: FileSystem
  readonly #device: string
  readonly #root: string
  readonly #context: string
  readonly #registry: ToolRegistry

  constructor(device: string, root: string, { caller }: DeviceContext, namespace: ToolNamespace) {
    this.#device = device
    this.#root = root
    this.fs = namespace.fs
    this.#context = getCallerContext(caller) ?? 'agent'
    this.#registry = createToolRegistry(namespace, {
      caller,
      context: this.#context,
      tools: Object.values(operations),
    })
  }

  /**
   * Runs the tool of a request, on `target` unless the request names a path. EINVAL for a malformed request, EACCES for
   * a path that leaves the workspace, ENOENT if the process has no workspace, and the errors of tools.
   */
  async answer(request: unknown, target: string, signal: AbortSignal): Promise<string> {
    const { op, args } = this.#parseRequest(request)
    const isTransfer = op === 'copy' || op === 'move'
    const paths: Record<string, string> = isTransfer ? {} : { path: toUri(target) }
    for (const name of PATH_ARGUMENTS) {
      if (args[name] !== undefined) paths[name] = await this.#toUri(name, args[name])
    }
    const { text, error } = await this.#registry.call(operations[op], { ...args, ...paths }, { signal })
    if (error === undefined) return text
    if (await this.#lacksWorkspace(Object.values(paths))) throw this.#createNoWorkspaceError()
    throw this.#createError(error.code, text.slice(`${error.code}: `.length))
  }

  #parseRequest(request: unknown): {
    readonly op: keyof typeof operations
    readonly args: Readonly<Record<string, unknown>>
  } {
    const { op: given, ...args } = isObject(request) ? request : {}
    const op = given ?? ('content' in args ? 'write' : undefined)
    if (isOperation(op)) return { op, args }
    const names = Object.keys(operations).join(', ')
    throw this.#createError('EINVAL', `a request is {"content": …}, or has an 'op', one of ${names}`)
  }

  /**
   * Converts a path to a URI. Models write all three forms: a URI, a path from the root of the namespace, and one in
   * the workspace, with or without a leading slash. EACCES for a path that leaves the workspace, EINVAL for no string.
   */
  async #toUri(name: string, given: unknown): Promise<string> {
    if (typeof given !== 'string')
      throw this.#createError('EINVAL', `'${name}' must be a string, such as src/main.ts`)
    if (/^vfs:/i.test(given)) return toUri(fromUri(given))
    if (given.startsWith('/') && (await this.#isInNamespace(given))) return toUri(join('/', given))
    const path = join(this.#root, given.replace(/^\/+/, ''))
    if (isWithin(path, this.#root)) return toUri(path)
    throw this.#createError(
      'EACCES',
      `'${given}' leaves the workspace; give a path below ${this.#root}, or a vfs:/// URI`,
    )
  }

  /** True if the first name of a path exists at the root of the namespace. */
  #isInNamespace(path: string): Promise<boolean> {
    const [, first = ''] = join('/', path).split('/')
    return this.fs.exists(`/${first}`)
  }

  /** True if one of the paths is in the workspace, and there is none. */
  async #lacksWorkspace(uris: readonly string[]): Promise<boolean> {
    if (!uris.some((uri) => isWithin(fromUri(uri), this.#root))) return false
    return !(await this.fs.exists(this.#root))
  }

  #createNoWorkspaceError(): VfsError {
    const home = toUri(`/home/${this.#context}`)
    const detail = `this process has no workspace, because it was started without a vault; use ${toUri('/shared')} or ${home}, or let the user start it with --vault`
    return this.#createError('ENOENT', detail)
  }

  #createError(code: VfsError['code'], detail: string): VfsError {
    return new VfsError(code, this.#device, { op: 'write', detail })
  }
}

function isOperation(op: unknown): op is keyof typeof operations {
  return typeof op === 'string' && Object.hasOwn(operations, op)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
