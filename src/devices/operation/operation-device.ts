import {
  type Device,
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  type DeviceTool,
  jsonRequestFile,
} from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { Operation } from './operation.ts'

type Operations = Readonly<Record<string, Operation>>

/** What a device has below its path besides its operations. */
export interface DeviceFiles {
  /** Undefined for what there is not. */
  open(subpath: string, ctx: DeviceContext): Promise<DeviceFile | undefined>
  names(): Promise<readonly string[]>
}

/** A device that does one thing, which models call by a name. */
export function operationDevice(path: string, tool: string, operation: Operation): Device {
  return {
    match: 'exact',
    tools: [toolOf(tool, operation, '')],
    open: (_subpath, _mode, ctx) => operationFile(path, operation, ctx),
  }
}

/**
 * A device that does several things. Which one is meant is said below its path, or as `op` of a request to the path
 * itself: `/dev/tasks/task_list` with `{}`, or `/dev/tasks` with `{"op": "task_list"}`.
 */
export function operationsDevice(path: string, operations: Operations, files?: DeviceFiles): Device {
  const entry = (name: string): DeviceEntry => ({ name, type: 'device' })
  return {
    match: 'prefix',
    tools: Object.entries(operations).map(([name, operation]) => toolOf(name, operation, `/${name}`)),
    async open(subpath, _mode, ctx) {
      if (subpath === '') return namedOperationFile(path, operations, ctx)
      const operation = find(operations, subpath.slice(1))
      if (operation !== undefined) return operationFile(`${path}${subpath}`, operation, ctx)
      const file = await files?.open(subpath, ctx)
      if (file !== undefined) return file
      const detail = `there is no such file; there is ${Object.keys(operations).join(', ')}`
      throw new VfsError('ENOENT', `${path}${subpath}`, { op: 'open', detail })
    },
    async list(subpath) {
      if (subpath !== '') throw new VfsError('ENOTDIR', `${path}${subpath}`, { op: 'readdir' })
      return [...Object.keys(operations), ...((await files?.names()) ?? [])].map(entry)
    },
  }
}

function toolOf(name: string, { description, inputSchema }: Operation, subpath: string): DeviceTool {
  return { name, description, inputSchema, request: (body) => ({ subpath, body }) }
}

function operationFile(path: string, operation: Operation, ctx: DeviceContext): DeviceFile {
  return jsonRequestFile(path, (args, signal = ctx.signal) => operation.run(path, args, { ctx, signal }))
}

function namedOperationFile(path: string, operations: Operations, ctx: DeviceContext): DeviceFile {
  return jsonRequestFile(path, async (request, signal = ctx.signal) => {
    const { op, ...args } = isObject(request) ? request : {}
    const operation = typeof op === 'string' ? find(operations, op) : undefined
    if (operation !== undefined) return operation.run(path, args, { ctx, signal })
    const detail = `a request is a JSON object with 'op', one of ${Object.keys(operations).join(', ')}`
    throw new VfsError('EINVAL', path, { op: 'write', detail })
  })
}

function find(operations: Operations, name: string): Operation | undefined {
  return Object.hasOwn(operations, name) ? operations[name] : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
