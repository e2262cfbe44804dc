import type { Device, DeviceContext, DeviceEntry, DeviceTool } from '../../kernel/index.ts'

import { createToolRegistry, type ToolInfo, type ToolNamespace } from '../../tools/index.ts'

import { child, isVfsError, MemoryFs, strict, VfsError } from '../../vfs/index.ts'
import { FsFile } from './fs-file.ts'
import { FsRequests, type FsToolName, operations, PATH_ARGUMENTS } from './fs-requests.ts'

const PATH_DESCRIPTION =
  'Path in the workspace, such as src/main.ts, or a URI, such as vfs:///shared/notes.md.'

/** Options of `fsDevice`. */
export interface FsDeviceOptions {
  /** Path of the device; `/dev/fs` when absent. */
  readonly path?: string
  /** Path of the workspace in the process's namespace; `/workspace` when absent. */
  readonly root?: string
  /** Returns the namespace of a process with its output cache; the files of the context without a cache when absent. */
  findNamespace?(ctx: DeviceContext): ToolNamespace | undefined
}

/**
 * Serves the files of a process. A path below the device is a file of the workspace: a read returns its content, and
 * it takes requests: `{content}`, or `{op, …}` with one of `operations` and the arguments of its tool.
 */
export function fsDevice({
  path = '/dev/fs',
  root = '/workspace',
  findNamespace,
}: FsDeviceOptions = {}): Device {
  // Read tracking belongs to one process and ends with it.
  const requests = new WeakMap<AbortSignal, FsRequests>()
  const getRequests = (ctx: DeviceContext) => {
    const processRequests =
      requests.get(ctx.signal) ?? new FsRequests(path, root, ctx, findNamespace?.(ctx) ?? { fs: ctx.fs })
    requests.set(ctx.signal, processRequests)
    return processRequests
  }
  return {
    match: 'prefix',
    tools: Object.entries(operations).map(([op, tool]) => createDeviceTool(op, tool)),
    open: (subpath, _mode, ctx) =>
      new FsFile({
        path: `${path}${subpath}`,
        target: resolveSubpath(root, subpath),
        requests: getRequests(ctx),
        ctx,
      }),
    list: (subpath, ctx) => listEntries(resolveSubpath(root, subpath), getRequests(ctx), ctx),
  }
}

/** Maps a path below the device to a workspace path. EINVAL if it is not canonical, such as one with `..`. */
function resolveSubpath(root: string, subpath: string): string {
  return subpath === '' || subpath === '/' ? root : child(root, strict(subpath).slice(1))
}

async function listEntries(target: string, { fs }: FsRequests, ctx: DeviceContext): Promise<DeviceEntry[]> {
  const entries: DeviceEntry[] = []
  try {
    for await (const { name, type } of fs.readdir(target, ctx)) {
      entries.push({ name, type: type === 'directory' ? 'directory' : 'device' })
    }
  } catch (error) {
    // A process without a workspace lists nothing.
    if (!isVfsError(error, 'ENOENT')) throw error
  }
  return entries
}

/** Tool descriptions; they are the same in every namespace. */
const builtinTools: ReadonlyMap<string, ToolInfo> = new Map(
  createToolRegistry(new MemoryFs()).tools.map((info) => [info.name, info]),
)

function createDeviceTool(op: string, name: FsToolName): DeviceTool {
  const info = builtinTools.get(name)
  if (info === undefined)
    throw new VfsError('EINTERNAL', name, { op: 'tools', detail: `there is no file tool '${name}'` })
  return {
    name,
    description: info.description,
    inputSchema: withPathDescription(info.inputSchema),
    isReadOnly: info.hints.readOnly,
    // The tools store long outputs themselves.
    isBounded: true,
    request: (args) => ({ subpath: '', body: { op, ...args } }),
  }
}

/** Describes the paths for processes, which have a workspace and no files of the host. */
function withPathDescription(schema: ToolInfo['inputSchema']): ToolInfo['inputSchema'] {
  const { $schema: _, properties, ...rest } = schema
  const described: Record<string, unknown> = { ...(typeof properties === 'object' ? properties : {}) }
  for (const name of PATH_ARGUMENTS) {
    if (name in described) described[name] = { type: 'string', description: PATH_DESCRIPTION }
  }
  return { ...rest, properties: described }
}
