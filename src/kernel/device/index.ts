/**
 * The device contract for paths below `/dev`, `/proc` and `/mnt`, and the registry that resolves them.
 * A device answers requests that are written to its open file. Helpers for the usual kinds of files are here too.
 * Invariant: a path resolves to at most one device, the one with the longest prefix of whole segments.
 */
export { readAllText, sendDeviceRequest } from './call-device.ts'
export {
  type Device,
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  type DeviceStat,
  type DeviceTool,
  type DeviceToolRequest,
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
  type OpenMode,
} from './device.ts'
export { type DeviceContextProvider, DeviceFs } from './device-fs.ts'
export { DeviceRegistry, type RegisteredTool, type ResolvedDevice } from './device-registry.ts'
export { getMountPoint } from './mount-owner.ts'
export { createJsonRequestFile, RequestFile, type RequestHandler } from './request-file.ts'
export { SnapshotFile } from './snapshot-file.ts'
