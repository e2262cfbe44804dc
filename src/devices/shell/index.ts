/**
 * `/dev/shell`: commands of a process, run in its workspace through the execution boundary.
 * It knows no policy and starts nothing itself: how a command is run is handed in.
 * Invariant: a command ends with the process that gave it, at the latest.
 */
export { type CommandWorkspace, type ShellDeviceOptions, shellDevice } from './shell-device.ts'
