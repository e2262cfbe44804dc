/**
 * `/dev/fs`: the files of a process's workspace, as requests and as model tools.
 * The tools of `src/tools` do the work; this folder connects a device to them.
 * Invariant: nothing outside the workspace is read, written or named.
 */
export { type FsDeviceOptions, fsDevice } from './fs-device.ts'
