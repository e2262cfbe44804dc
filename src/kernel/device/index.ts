/**
 * The device contract: what is behind a path of `/dev`, `/proc` and `/mnt`, and the registry that finds it.
 * A device answers requests that are written to an open file of it; helpers for the usual kinds of files are here too.
 * Invariant: a path leads to at most one device, the one with the longest name of whole segments.
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
