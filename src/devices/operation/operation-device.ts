import {
  createJsonRequestFile,
  type Device,
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  type DeviceTool,
} from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { DeviceOperation } from './device-operation.ts'

type Operations = Readonly<Record<string, DeviceOperation>>

/** Files of a device below its path, besides its operations. */
export interface DeviceFiles {
  /** Opens a file; undefined if there is none. */
  open(subpath: string, ctx: DeviceContext): Promise<DeviceFile | undefined>
  names(): Promise<readonly string[]>
}

/** Creates a device with one operation, which models call by a tool name. */
export function operationDevice(path: string, tool: string, operation: DeviceOperation): Device {
  return {
    match: 'exact',
    tools: [createDeviceTool(tool, operation, '')],
    open: (_subpath, _mode, ctx) => createOperationFile(path, operation, ctx),
  }
}

/**
 * Creates a device with several operations. A request names one by the path below the device, or as `op` when
 * written to the device: `/dev/tasks/task_list` with `{}`, or `/dev/tasks` with `{"op": "task_list"}`.
 */
export function operationsDevice(path: string, operations: Operations, files?: DeviceFiles): Device {
  const entry = (name: string): DeviceEntry => ({ name, type: 'device' })
  return {
    match: 'prefix',
    tools: Object.entries(operations).map(([name, operation]) =>
      createDeviceTool(name, operation, `/${name}`),
    ),
    async open(subpath, _mode, ctx) {
      if (subpath === '') return createDispatchFile(path, operations, ctx)
      const operation = findOperation(operations, subpath.slice(1))
      if (operation !== undefined) return createOperationFile(`${path}${subpath}`, operation, ctx)
      const file = await files?.open(subpath, ctx)
      if (file !== undefined) return file
      const detail = `there is no such file; there are: ${Object.keys(operations).join(', ')}`
      throw new VfsError('ENOENT', `${path}${subpath}`, { op: 'open', detail })
    },
    async list(subpath) {
      if (subpath !== '') throw new VfsError('ENOTDIR', `${path}${subpath}`, { op: 'readdir' })
      return [...Object.keys(operations), ...((await files?.names()) ?? [])].map(entry)
    },
  }
}

function createDeviceTool(
  name: string,
  { description, inputSchema }: DeviceOperation,
  subpath: string,
): DeviceTool {
  return { name, description, inputSchema, request: (body) => ({ subpath, body }) }
}

function createOperationFile(path: string, operation: DeviceOperation, ctx: DeviceContext): DeviceFile {
  return createJsonRequestFile(path, (args, signal = ctx.signal) =>
    operation.run(path, args, { ctx, signal }),
  )
}

function createDispatchFile(path: string, operations: Operations, ctx: DeviceContext): DeviceFile {
  return createJsonRequestFile(path, async (request, signal = ctx.signal) => {
    const { op, ...args } = isObject(request) ? request : {}
    const operation = typeof op === 'string' ? findOperation(operations, op) : undefined
    if (operation !== undefined) return operation.run(path, args, { ctx, signal })
    const detail = `a request is a JSON object with 'op', one of ${Object.keys(operations).join(', ')}`
    throw new VfsError('EINVAL', path, { op: 'write', detail })
  })
}

function findOperation(operations: Operations, name: string): DeviceOperation | undefined {
  return Object.hasOwn(operations, name) ? operations[name] : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
