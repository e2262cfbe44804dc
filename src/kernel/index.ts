/**
 * Agents as processes: spawn, signal, wait and reap. Everything a process uses is an open file.
 * Each folder is one part with a small interface; `kernel.ts` combines them. It knows the device contract, no device.
 * Invariant: however a process ends, its files are closed, its context is freed and its number is never reused.
 */
export type { ContextManager, ContextMessage, Prompt, Role } from './context/index.ts'
export type { FileManager } from './descriptor/process-files.ts'
export {
  createJsonRequestFile,
  type Device,
  type DeviceContext,
  type DeviceContextProvider,
  type DeviceEntry,
  type DeviceFile,
  DeviceFs,
  DeviceRegistry,
  type DeviceStat,
  type DeviceTool,
  type DeviceToolRequest,
  getMountPoint,
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
  type OpenMode,
  RequestFile,
  type RequestHandler,
  type ResolvedDevice,
  readAllText,
  SnapshotFile,
  sendDeviceRequest,
} from './device/index.ts'
export {
  type EventSummary,
  type KernelEvent,
  type LifecycleEvent,
  type LogEvent,
  listen,
  type ReapEvent,
  type ReapStep,
  reapSteps,
  type SyscallEvent,
  type TextEvent,
} from './event.ts'
export type { ProcGroupManager } from './group/process-groups.ts'
export type { IpcManager, Message, PipeDescriptors } from './ipc/index.ts'
export { Kernel, type KernelOptions } from './kernel.ts'
export {
  BusyError,
  type ModelRequest,
  type ModelResponse,
  ModelStartError,
  type ToolDefinition,
} from './loop/index.ts'
export type { KernelCallbacks } from './process/callbacks.ts'
export { formatChildResult, raceWithAbort } from './process/child-result.ts'
export type { ExitStatus } from './process/exit-status.ts'
export type { Process } from './process/process.ts'
export { type ProcessOptions, processOptionShape } from './process/process-options.ts'
export type { ProcessDefaults } from './process/process-spec.ts'
export type { ProcessState } from './process/process-state.ts'
export type { ProcessManager } from './process/processes.ts'
export type {
  AgentSpec,
  ModelChoice,
  MountConfig,
  MountManager,
  ProcessEnvironment,
  ProcessLimits,
  ProcessProgram,
  SpawnOptions,
} from './process/spawn-options.ts'
export { type Signal, type SignalHandler, type SignalManager, signals } from './signal/index.ts'
export {
  isSecretName,
  KnownSecrets,
  listRecordedCalls,
  type RecordedCall,
  Redactor,
  StepFiles,
  type StepRecord,
  type StepSink,
} from './step/index.ts'
export {
  type ChildSpec,
  type Restart,
  type RestartLimits,
  restartSchema,
  type Strategy,
  type SupervisorOptions,
  type SupervisorSpec,
  supervisorOptionShape,
} from './supervisor/index.ts'
export type {
  CoroutineManager,
  CoroutineProgram,
  Thread,
  ThreadManager,
  ThreadProgram,
  YieldResult,
} from './thread/index.ts'
