/**
 * `/dev/fs`: the files of a process, as requests and as model tools: its workspace, the zones and mounts.
 * The tools of `src/tools` do the work; this folder connects a device to them.
 * Invariant: each operation acts as the process, so that the guard of its namespace decides.
 */
export { type FsDeviceOptions, fsDevice } from './fs-device.ts'
