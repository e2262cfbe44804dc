/**
 * The device contract: what is behind a path of `/dev`, `/proc` and `/mnt`, and the registry that finds it.
 * A device answers requests that are written to an open file of it; helpers for the usual kinds of files are here too.
 * Invariant: a path leads to at most one device, the one with the longest name of whole segments.
 */
export { readAll, request } from './call-device.ts'
export {
  type Device,
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  type DeviceStat,
  type DeviceTool,
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
  type OpenMode,
  type ToolRequest,
} from './device.ts'
export { type ContextOf, DeviceFs } from './device-fs.ts'
export { DeviceRegistry, type RegisteredTool, type Resolved } from './device-registry.ts'
export { mountPointOf } from './mount-owner.ts'
export { type Answer, jsonRequestFile, RequestFile } from './request-file.ts'
export { SnapshotFile } from './snapshot-file.ts'
