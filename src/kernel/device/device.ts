import type { Caller, FileSystem } from '../../vfs/index.ts'

export const O_RDONLY = 0
export const O_WRONLY = 1
export const O_RDWR = 2

/** What an open file is for. */
export type OpenMode = typeof O_RDONLY | typeof O_WRONLY | typeof O_RDWR

/** For whom a device is opened. */
export interface DeviceContext {
  /** 0 for who is no process: the person at a terminal. */
  readonly pid: number
  readonly caller: Caller
  /** What the process sees as `/`, as far as it may. */
  readonly fs: FileSystem
  /** Aborted when the process ends. */
  readonly signal: AbortSignal
}

export interface DeviceStat {
  readonly size: number
  readonly modified: Date
}

/** An open device. Most answer requests: what is written is one, and what is read then is its answer. */
export interface DeviceFile {
  /** The next bytes, at most so many; none at the end. EINVAL before there is anything to answer. */
  read(length: number): Promise<Uint8Array>
  write(data: Uint8Array, signal?: AbortSignal): Promise<void>
  close(): Promise<void>
  stat(): Promise<DeviceStat>
}

/** A tool a device offers to models: what they call it, and the request a call becomes. */
export interface DeviceTool {
  readonly name: string
  readonly description: string
  /** The arguments as JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** Where a call goes, below the device, and what is written there. */
  request(args: Readonly<Record<string, unknown>>): DeviceToolRequest
}

export interface DeviceToolRequest {
  /** With its leading slash; empty for the device itself. */
  readonly subpath: string
  /** Written as JSON; nothing is written when absent. */
  readonly body?: unknown
}

/** Something behind a path. */
export interface Device {
  /** Whether it answers for its path alone, or for everything below it too. */
  readonly match: 'exact' | 'prefix'
  readonly tools?: readonly DeviceTool[]
  /** The subpath is the rest of the path, with its leading slash; empty for the path itself. */
  open(subpath: string, mode: OpenMode, ctx: DeviceContext): DeviceFile | Promise<DeviceFile>
  /** The names below a place, for who lists it; none when absent. ENOENT. */
  list?(subpath: string, ctx: DeviceContext): Promise<readonly DeviceEntry[]>
}

export interface DeviceEntry {
  readonly name: string
  /** A file can be read as it is; a device is asked. */
  readonly type: 'device' | 'directory' | 'file'
}
