import type { Device, DeviceContext, DeviceEntry, DeviceTool } from '../../kernel/index.ts'
import { agentTools, type ToolInfo } from '../../tools/index.ts'
import { child, isVfsError, MemoryFs, strict, VfsError } from '../../vfs/index.ts'
import { FsFile } from './fs-file.ts'
import { FsRequests, type FsToolName, operations } from './fs-requests.ts'

const PATH_DESCRIPTION = 'A file or directory of the workspace: src/main.ts, or vfs:///workspace/src/main.ts.'

export interface FsDeviceOptions {
  /** Where it is registered; `/dev/fs` when absent. */
  readonly path?: string
  /** The workspace in what a process sees; `/workspace` when absent. */
  readonly root?: string
}

/**
 * The files of a workspace. What is below the device's path is a file there: it is read as it is, and takes requests
 * `{content}` or `{op: list | read | edit | glob | grep | write, …}`, with the arguments of the tool of that name.
 */
export function fsDevice({ path = '/dev/fs', root = '/workspace' }: FsDeviceOptions = {}): Device {
  // What a process has read is its own, and goes with it.
  const requests = new WeakMap<AbortSignal, FsRequests>()
  const getRequests = (ctx: DeviceContext) => {
    const known = requests.get(ctx.signal) ?? new FsRequests(path, root, ctx)
    requests.set(ctx.signal, known)
    return known
  }
  return {
    match: 'prefix',
    tools: Object.entries(operations).map(([op, tool]) => createDeviceTool(op, tool)),
    open: (subpath, _mode, ctx) =>
      new FsFile({
        path: `${path}${subpath}`,
        place: resolveSubpath(root, subpath),
        requests: getRequests(ctx),
        ctx,
      }),
    list: (subpath, ctx) => listEntries(resolveSubpath(root, subpath), getRequests(ctx), ctx),
  }
}

/** Where a path below the device leads. EINVAL for one with `..` or the like. */
function resolveSubpath(root: string, subpath: string): string {
  return subpath === '' || subpath === '/' ? root : child(root, strict(subpath).slice(1))
}

async function listEntries(place: string, { fs }: FsRequests, ctx: DeviceContext): Promise<DeviceEntry[]> {
  const entries: DeviceEntry[] = []
  try {
    for await (const { name, type } of fs.readdir(place, ctx)) {
      entries.push({ name, type: type === 'directory' ? 'directory' : 'device' })
    }
  } catch (error) {
    // A process without a workspace has none to show.
    if (!isVfsError(error, 'ENOENT')) throw error
  }
  return entries
}

/** The tools of any namespace: what they are does not depend on which. */
const builtinTools: ReadonlyMap<string, ToolInfo> = new Map(
  agentTools(new MemoryFs()).tools.map((info) => [info.name, info]),
)

function createDeviceTool(op: string, name: FsToolName): DeviceTool {
  const info = builtinTools.get(name)
  if (info === undefined) throw new VfsError('EINTERNAL', name, { op: 'tools' })
  return {
    name,
    description: info.description,
    inputSchema: withPathDescription(info.inputSchema),
    request: (args) => ({ subpath: '', body: { op, ...args } }),
  }
}

/** Of the places the tools can reach elsewhere, there is only one here. */
function withPathDescription(schema: ToolInfo['inputSchema']): ToolInfo['inputSchema'] {
  const { $schema: _, properties, ...rest } = schema
  const path = { type: 'string', description: PATH_DESCRIPTION }
  return { ...rest, properties: { ...(typeof properties === 'object' ? properties : {}), path } }
}
