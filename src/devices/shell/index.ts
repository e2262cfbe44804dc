/**
 * `/dev/shell`: commands of a process, run in its workspace through the execution boundary.
 * It contains no policy and starts nothing itself: the caller supplies the executor.
 * Invariant: a command ends with its process at the latest.
 */
export { type CommandWorkspace, type ShellDeviceOptions, shellDevice } from './shell-device.ts'
