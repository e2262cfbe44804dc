import type { Caller, FileSystem } from '../../vfs/index.ts'

/** Opens for reading only. */
export const O_RDONLY = 0
/** Opens for writing only. */
export const O_WRONLY = 1
/** Opens for reading and writing. */
export const O_RDWR = 2

/** Access mode of an open file. */
export type OpenMode = typeof O_RDONLY | typeof O_WRONLY | typeof O_RDWR

/** The process for which a device is opened. */
export interface DeviceContext {
  /** 0 for a caller that is not a process, such as a person at a terminal. */
  readonly pid: number
  readonly caller: Caller
  /** Root of the process's namespace, restricted to its permissions. */
  readonly fs: FileSystem
  /** Aborted when the process ends. */
  readonly signal: AbortSignal
  /** Receives the text of a response while it arrives; absent if nobody wants it. */
  readonly onText?: ((text: string) => void) | undefined
}

/** Size and time of an open device. */
export interface DeviceStat {
  readonly size: number
  readonly modified: Date
}

/** An open device. Most devices serve requests: a write sends one, and reads return its response. */
export interface DeviceFile {
  /** Returns the next bytes, at most `length`; empty at the end. EINVAL before the first request. */
  read(length: number): Promise<Uint8Array>
  write(data: Uint8Array, signal?: AbortSignal): Promise<void>
  /** Sends a request and returns its response, both as values instead of JSON. Absent if a device has only bytes. */
  request?(body: unknown, signal?: AbortSignal): Promise<unknown>
  close(): Promise<void>
  stat(): Promise<DeviceStat>
}

/** A tool that a device offers to models, with its mapping from arguments to a request. */
export interface DeviceTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** True if calls change nothing: consecutive ones run at the same time. */
  readonly isReadOnly?: boolean
  /** True if the device limits the length of its responses: they are never replaced by a stub. */
  readonly isBounded?: boolean
  /** Returns the subpath and the body of the request for these arguments. */
  request(args: Readonly<Record<string, unknown>>): DeviceToolRequest
}

/** The request that a tool call becomes. */
export interface DeviceToolRequest {
  /** With its leading slash; empty for the device itself. */
  readonly subpath: string
  /** Request body, written as JSON. Nothing is written if absent. */
  readonly body?: unknown
}

/** Something that serves a path. */
export interface Device {
  /** `exact` serves its own path only, `prefix` everything below it too. */
  readonly match: 'exact' | 'prefix'
  readonly tools?: readonly DeviceTool[]
  /** Opens a path. The subpath is its rest with the leading slash; empty for the path of the device. */
  open(subpath: string, mode: OpenMode, ctx: DeviceContext): DeviceFile | Promise<DeviceFile>
  /** Lists the names below a subpath; absent if the device has none. ENOENT if nothing has the subpath. */
  list?(subpath: string, ctx: DeviceContext): Promise<readonly DeviceEntry[]>
}

/** An entry in the listing of a device. */
export interface DeviceEntry {
  readonly name: string
  /** `file` can be read directly; `device` serves requests. */
  readonly type: 'device' | 'directory' | 'file'
}
