import { isWithin, VfsError } from '../../vfs/index.ts'
import {
  type DeviceContext,
  type DeviceFile,
  type DeviceRegistry,
  type DeviceStat,
  type OpenMode,
  sendDeviceRequest,
} from '../device/index.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'
import { openNamespaceFile } from './namespace-file.ts'

/** Paths that a process's device list restricts. The access guard covers all other paths. */
const DEVICE_ROOTS = ['/dev', '/mnt/mcp']

/** File calls of processes, by descriptor. */
export interface FileManager {
  /** Opens a device or a file and returns its descriptor. EACCES for a device the process was not granted. */
  open(pid: number, path: string, mode: OpenMode): Promise<number>
  read(pid: number, fd: number, length: number): Promise<Uint8Array>
  write(pid: number, fd: number, data: Uint8Array, signal?: AbortSignal): Promise<void>
  /** Sends a request and returns its response; as JSON text if the device has only bytes. */
  request(pid: number, fd: number, body: unknown): Promise<unknown>
  close(pid: number, fd: number): Promise<void>
  fstat(pid: number, fd: number): Promise<DeviceStat>
}

/** File calls of processes. Each call is a system call and appears in the process's trace. */
export class ProcessFiles implements FileManager {
  readonly #table: ProcessTable
  readonly #devices: DeviceRegistry

  constructor(table: ProcessTable, devices: DeviceRegistry) {
    this.#table = table
    this.#devices = devices
  }

  async open(pid: number, path: string, mode: OpenMode): Promise<number> {
    const process = this.#table.getAlive(pid)
    return traceCall(process, 'open', [path, mode], async () => {
      assertDeviceGranted(process, path)
      return process.descriptors.add(path, await this.#openFile(process, path, mode))
    })
  }

  /** Opens a file that the kernel needs for a process, without checking its grants. */
  async openForKernel(process: Process, path: string, mode: OpenMode): Promise<number> {
    return traceCall(process, 'open', [path, mode], async () =>
      process.descriptors.add(path, await this.#openFile(process, path, mode)),
    )
  }

  async read(pid: number, fd: number, length: number): Promise<Uint8Array> {
    const process = this.#table.get(pid)
    return traceCall(process, 'read', [fd, length], () => process.descriptors.get(fd).read(length))
  }

  async write(pid: number, fd: number, data: Uint8Array, signal?: AbortSignal): Promise<void> {
    const process = this.#table.get(pid)
    const eitherSignal = signal === undefined ? process.signal : AbortSignal.any([process.signal, signal])
    return traceCall(process, 'write', [fd, data], () =>
      process.descriptors.get(fd).write(data, eitherSignal),
    )
  }

  async close(pid: number, fd: number): Promise<void> {
    const process = this.#table.get(pid)
    return traceCall(process, 'close', [fd], () => process.descriptors.close(fd))
  }

  async request(pid: number, fd: number, body: unknown): Promise<unknown> {
    const process = this.#table.get(pid)
    return traceCall(process, 'request', [fd, body], async () => {
      const file = process.descriptors.get(fd)
      return file.request === undefined
        ? sendDeviceRequest(file, body, process.signal)
        : file.request(body, process.signal)
    })
  }

  async fstat(pid: number, fd: number): Promise<DeviceStat> {
    const process = this.#table.get(pid)
    return traceCall(process, 'fstat', [fd], () => process.descriptors.get(fd).stat())
  }

  #openFile(process: Process, path: string, mode: OpenMode): Promise<DeviceFile> {
    const ctx = toDeviceContext(process)
    return this.#devices.find(path) === undefined && !isDevicePath(path)
      ? openNamespaceFile(path, mode, ctx)
      : this.#devices.open(path, mode, ctx)
  }
}

function toDeviceContext(process: Process): DeviceContext {
  const { pid, signal, spec } = process
  const onText = (text: string) => process.emit({ kind: 'text', text })
  return { pid, caller: spec.caller, fs: spec.fs, signal, onText }
}

function isDevicePath(path: string): boolean {
  return DEVICE_ROOTS.some((root) => isWithin(path, root))
}

function assertDeviceGranted({ pid, allowedDevices }: Process, path: string): void {
  if (allowedDevices === null || !isDevicePath(path)) return
  if (allowedDevices.some((device) => isWithin(path, device))) return
  const granted = allowedDevices.length === 0 ? 'none' : allowedDevices.join(', ')
  const detail = `process ${pid} was not granted this device; it has: ${granted}`
  throw new VfsError('EACCES', path, { op: 'open', detail })
}

/** Runs a system call and emits its arguments, result or error, and duration. */
async function traceCall<Result>(
  process: Process,
  call: string,
  args: readonly unknown[],
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now()
  const emitCall = (outcome: { result?: unknown; error?: string }) =>
    process.emit({ kind: 'syscall', call, args, duration: performance.now() - startedAt, ...outcome })
  try {
    const result = await work()
    emitCall({ result })
    return result
  } catch (error) {
    emitCall({ error: error instanceof Error ? error.message : String(error) })
    throw error
  }
}
