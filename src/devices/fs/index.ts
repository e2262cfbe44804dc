/**
 * `/dev/fs`: the files of a process's workspace, as requests and as tools of a model.
 * What is done with files is what the tools of `src/tools` do; here is how a device leads to them.
 * Invariant: nothing outside the workspace is read, written or told of.
 */
export { type FsDeviceOptions, fsDevice } from './fs-device.ts'
