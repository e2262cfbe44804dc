import { getCallerContext, guard, type Policy } from '../../access/index.ts'
import type { DeviceContext } from '../../kernel/index.ts'
import { agentTools, fromUri, type ToolRegistry, toUri } from '../../tools/index.ts'
import { type FileSystem, isWithin, join, VfsError } from '../../vfs/index.ts'

/** Operations of a request, each with the tool that runs it. */
export const operations = {
  read: 'file_read',
  write: 'write_file',
  edit: 'file_edit',
  list: 'vfs_list',
  glob: 'file_glob',
  grep: 'file_grep',
} as const

export type FsToolName = (typeof operations)[keyof typeof operations]

/** Answers the requests of one process. */
export class FsRequests {
  /** The process's namespace, restricted to its workspace. */
  readonly fs: FileSystem
  readonly #device: string
  readonly #root: string
  readonly #registry: ToolRegistry

  constructor(device: string, root: string, { fs, caller }: DeviceContext) {
    this.#device = device
    this.#root = root
    this.fs = guard(fs, [createWorkspacePolicy(root)])
    this.#registry = agentTools(
      { fs: this.fs },
      {
        caller,
        context: getCallerContext(caller) ?? 'agent',
        tools: Object.values(operations),
      },
    )
  }

  /** Runs the tool of a request, on `place` unless the request names a path. EINVAL, and the errors of tools. */
  async answer(request: unknown, place: string, signal: AbortSignal): Promise<string> {
    const { op, path, ...args } = this.#parseRequest(request)
    const uri = this.#toWorkspaceUri(path ?? toUri(place))
    const { text, error } = await this.#registry.call(operations[op], { path: uri, ...args }, { signal })
    if (error === undefined) return text
    throw this.#createError(error.code, text.slice(`${error.code}: `.length))
  }

  #parseRequest(request: unknown): {
    op: keyof typeof operations
    path?: string
    [argument: string]: unknown
  } {
    const { op: given, path, ...args } = isObject(request) ? request : {}
    const op = given ?? ('content' in args ? 'write' : undefined)
    if (!isOperation(op)) {
      const known = Object.keys(operations).join(', ')
      throw this.#createError('EINVAL', `a request is {"content": …}, or has an 'op', one of ${known}`)
    }
    if (path === undefined) return { ...args, op }
    if (typeof path !== 'string') throw this.#createError('EINVAL', `'path' is a string, such as src/main.ts`)
    return { ...args, op, path }
  }

  /** Converts a path to a tool URI; models write all three forms. EACCES outside the workspace. */
  #toWorkspaceUri(given: string): string {
    const path = /^vfs:/i.test(given) ? fromUri(given) : join(this.#root, given)
    if (isWithin(path, this.#root)) return toUri(path)
    throw this.#createError('EACCES', `'${path}' is not in the workspace; give a path below ${this.#root}`)
  }

  #createError(code: VfsError['code'], detail: string): VfsError {
    return new VfsError(code, this.#device, { op: 'write', detail })
  }
}

/** Confines paths to the workspace, targets of links included. */
function createWorkspacePolicy(root: string): Policy {
  return {
    name: 'workspace-only',
    judges: 'everything',
    judge: ({ path }) =>
      isWithin(path, root) ? null : `it is not in the workspace; give a path below ${root}`,
  }
}

function isOperation(op: unknown): op is keyof typeof operations {
  return typeof op === 'string' && Object.hasOwn(operations, op)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
