/**
 * Agents as processes: they are spawned, signalled, waited for and reaped, and everything they use is an open file.
 * Each folder is one part with a small interface; `kernel.ts` puts them together. It knows the device contract, no device.
 * Invariant: however a process ends, its files are closed, its context is freed and its number is not used again.
 */
export type { ContextManager, ContextMessage, Prompt, Role } from './context/index.ts'
export type { FileManager } from './descriptor/files.ts'
export {
  type Answer,
  type ContextOf,
  type Device,
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  DeviceFs,
  DeviceRegistry,
  type DeviceStat,
  type DeviceTool,
  jsonRequestFile,
  mountPointOf,
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
  type OpenMode,
  RequestFile,
  type Resolved,
  readAll,
  request,
  SnapshotFile,
  type ToolRequest,
} from './device/index.ts'
export {
  type KernelEvent,
  type LifeEvent,
  type LogEvent,
  listen,
  type ReapEvent,
  type ReapStep,
  reapSteps,
  type SyscallEvent,
} from './event.ts'
export type { ProcGroupManager } from './group/groups.ts'
export type { IpcManager, Message, PipeDescriptors } from './ipc/index.ts'
export { Kernel, type KernelOptions } from './kernel.ts'
export type { ModelRequest, ModelResponse, ToolOffer } from './loop/index.ts'
export type { KernelCallbacks } from './process/callbacks.ts'
export type { ExitStatus } from './process/exit.ts'
export type { Process } from './process/process.ts'
export type { ProcessManager } from './process/processes.ts'
export type {
  AgentSpec,
  ModelChoice,
  MountConfig,
  MountManager,
  Program,
  SpawnOptions,
  Surroundings,
} from './process/spawn-options.ts'
export type { ProcessDefaults } from './process/spec.ts'
export type { ProcessState } from './process/state.ts'
export { type Signal, type SignalHandler, type SignalManager, signals } from './signal/index.ts'
export {
  isSecretName,
  KnownSecrets,
  type RecordedCall,
  Redactor,
  recordedCalls,
  StepFiles,
  type StepRecord,
  type StepSink,
} from './step/index.ts'
export type { ChildSpec, Restart, RestartLimits, Strategy, SupervisorSpec } from './supervisor/index.ts'
export type {
  CoroutineManager,
  CoroutineProgram,
  Thread,
  ThreadManager,
  ThreadProgram,
  Yielded,
} from './thread/index.ts'
