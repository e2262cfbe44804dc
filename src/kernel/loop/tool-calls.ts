import { VfsError } from '../../vfs/index.ts'
import type { FileManager } from '../descriptor/process-files.ts'
import { type DeviceRegistry, O_RDONLY, O_RDWR, type RegisteredTool, readAllText } from '../device/index.ts'
import type { Process } from '../process/process.ts'
import { readHead } from './file-head.ts'
import type { PreparedCall } from './loop-environment.ts'
import type { ToolDefinition } from './model.ts'

const encoder = new TextEncoder()

/** Device tools for processes: their definitions, and calls to them. */
export class ToolCalls {
  readonly #devices: DeviceRegistry
  readonly #files: FileManager

  constructor(devices: DeviceRegistry, files: FileManager) {
    this.#devices = devices
    this.#files = files
  }

  listTools({ pid, allowedDevices }: Process): ToolDefinition[] {
    return this.#devices
      .listTools(allowedDevices, pid)
      .map(({ tool: { name, description, inputSchema: input_schema } }) => ({
        name,
        description,
        input_schema,
      }))
  }

  /** Prepares a call of a tool by name, or of a file by path: writes the input and reads the response. */
  prepare(process: Process, tool: string, input: unknown): PreparedCall {
    if (tool.startsWith('/')) return this.#prepareCall(process, tool, input)
    const { pid, allowedDevices } = process
    const offered = this.#devices.listTools(allowedDevices, pid)
    const found = offered.find(({ tool: { name } }) => name === tool)
    if (found === undefined) return createFailingCall(tool, this.#createUnknownToolError(process, tool))
    return this.#prepareRequest(process, found, input)
  }

  #prepareRequest(process: Process, { root, tool }: RegisteredTool, input: unknown): PreparedCall {
    try {
      const { subpath, body } = tool.request(isArguments(input) ? input : {})
      return this.#prepareCall(process, `${root}${subpath}`, body)
    } catch (error) {
      return createFailingCall(root, error)
    }
  }

  #prepareCall(process: Process, path: string, body: unknown): PreparedCall {
    const input = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    return { path, input, run: () => this.#run(process, path, input) }
  }

  async #run({ pid }: Process, path: string, input: string): Promise<string> {
    const fd = await this.#files.open(pid, path, input === '' ? O_RDONLY : O_RDWR)
    try {
      const file = { read: (length: number) => this.#files.read(pid, fd, length) }
      if (input === '') return await readHead(file)
      await this.#files.write(pid, fd, encoder.encode(input))
      return await readAllText(file)
    } finally {
      await this.#files.close(pid, fd)
    }
  }

  #createUnknownToolError(process: Process, tool: string): VfsError {
    const known = this.listTools(process).map(({ name }) => name)
    const detail = `there is no tool '${tool}'; there are: ${known.join(', ') || 'none'}, and devices by their paths`
    return new VfsError('ENOENT', tool, { op: 'tool', detail })
  }
}

function isArguments(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

function createFailingCall(path: string, error: unknown): PreparedCall {
  return { path, input: '', run: () => Promise.reject(error) }
}
