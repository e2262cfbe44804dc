import { isWithin, VfsError } from '../../vfs/index.ts'
import type { FileManager } from '../descriptor/process-files.ts'
import {
  type DeviceRegistry,
  type DeviceTool,
  O_RDONLY,
  O_RDWR,
  type RegisteredTool,
  readAllText,
} from '../device/index.ts'
import type { Process } from '../process/process.ts'
import { actionTools, rareActionTools, TOOL_SEARCH, toolSearchTool } from './action-tools.ts'
import { readHead } from './file-head.ts'
import type { PreparedCall } from './loop-environment.ts'
import type { ToolDefinition } from './model.ts'
import { searchTools } from './search-tools.ts'

const encoder = new TextEncoder()

/** Tools of a process: those it is offered, and those that a search can find. */
interface ProcessTools {
  readonly available: readonly RegisteredTool[]
  readonly offered: readonly ToolDefinition[]
  readonly hidden: readonly ToolDefinition[]
}

/** Tools of a process, and what they depend on. What it was granted and what it found only grow, so counts suffice. */
interface CachedTools {
  readonly tools: ProcessTools
  readonly revision: number
  readonly grantedCount: number
  readonly foundCount: number
}

/** Tools of processes: their definitions, and calls to them. */
export class ToolCalls {
  readonly #devices: DeviceRegistry
  readonly #files: FileManager
  /** Every step lists the tools, which seldom change. */
  readonly #cached = new WeakMap<Process, CachedTools>()

  constructor(devices: DeviceRegistry, files: FileManager) {
    this.#devices = devices
    this.#files = files
  }

  /** Lists the tools that a process is offered now. With more to find, a tool to search for them is among these. */
  listTools(process: Process): readonly ToolDefinition[] {
    return this.#getTools(process).offered
  }

  /** Prepares a call of a tool by name, or of a file by path. Its `run` writes the input and reads the response. */
  prepare(process: Process, tool: string, input: unknown): PreparedCall {
    if (tool.startsWith('/')) return this.#prepareCall(process, { path: tool, name: tool }, input)
    if (tool === TOOL_SEARCH) return this.#prepareSearch(process, input)
    const found = this.#getTools(process).available.find(({ tool: { name } }) => name === tool)
    if (found === undefined) return createFailingCall(tool, this.#createUnknownToolError(process, tool))
    return this.#prepareRequest(process, found, input)
  }

  #getTools(process: Process): ProcessTools {
    const { grantedDevices, foundTools } = process
    const state = {
      revision: this.#devices.getToolRevision(),
      grantedCount: grantedDevices.length,
      foundCount: foundTools.size,
    }
    const cached = this.#cached.get(process)
    if (cached !== undefined && isSameState(cached, state)) return cached.tools
    const tools = this.#partitionTools(process)
    this.#cached.set(process, { tools, ...state })
    return tools
  }

  #partitionTools(process: Process): ProcessTools {
    const { pid, allowedDevices, foundTools, spec } = process
    const available = this.#devices.listTools(allowedDevices, pid)
    const isOffered = createOfferFilter(process)
    const isFound = ({ name }: ToolDefinition) => spec.tools === null || foundTools.has(name)
    const hidden = [
      ...available.filter((tool) => !isOffered(tool)).map(toDefinition),
      ...rareActionTools.filter((tool) => !isFound(tool)),
    ]
    const offered = [
      ...available.filter(isOffered).map(toDefinition),
      ...actionTools,
      ...rareActionTools.filter(isFound),
      ...(hidden.length === 0 ? [] : [toolSearchTool]),
    ]
    return { available, offered, hidden }
  }

  #prepareSearch(process: Process, input: unknown): PreparedCall {
    const { query } = isArguments(input) ? input : {}
    const text = typeof query === 'string' ? query : ''
    const run = async () => {
      const found = searchTools(text, this.#getTools(process).hidden)
      for (const { name } of found) process.foundTools.add(name)
      if (found.length === 0) return `No further tool matches '${text}'.`
      const lines = found.map(({ name, description }) => `- ${name}: ${description}`)
      return ['You can use these from now on:', ...lines].join('\n')
    }
    return { path: TOOL_SEARCH, input: text, isReadOnly: false, run }
  }

  #prepareRequest(process: Process, { root, tool }: RegisteredTool, input: unknown): PreparedCall {
    try {
      const { subpath, body } = tool.request(isArguments(input) ? input : {})
      return this.#prepareCall(process, { ...tool, path: `${root}${subpath}` }, body)
    } catch (error) {
      return createFailingCall(root, error)
    }
  }

  #prepareCall(process: Process, file: CalledFile, body: unknown): PreparedCall {
    const input = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const { path, isReadOnly = false } = file
    return { path, input, isReadOnly, run: () => this.#run(process, file, input) }
  }

  async #run(
    { pid, spec }: Process,
    { path, name, isBounded = false }: CalledFile,
    input: string,
  ): Promise<string> {
    const fd = await this.#files.open(pid, path, input === '' ? O_RDONLY : O_RDWR)
    try {
      const file = { read: (length: number) => this.#files.read(pid, fd, length) }
      if (input === '') return await readHead(file)
      await this.#files.write(pid, fd, encoder.encode(input))
      const output = await readAllText(file)
      return isBounded || spec.boundOutput === undefined ? output : await spec.boundOutput(name, output)
    } finally {
      await this.#files.close(pid, fd)
    }
  }

  #createUnknownToolError(process: Process, tool: string): VfsError {
    const available = this.listTools(process).map(({ name }) => name)
    const detail = `there is no tool '${tool}'; there are: ${available.join(', ') || 'none'}, and devices by their paths`
    return new VfsError('ENOENT', tool, { op: 'tool', detail })
  }
}

function isSameState(cached: CachedTools, state: Omit<CachedTools, 'tools'>): boolean {
  return (
    cached.revision === state.revision &&
    cached.grantedCount === state.grantedCount &&
    cached.foundCount === state.foundCount
  )
}

/** A file that receives a call, and the properties of its tool. */
interface CalledFile {
  readonly path: string
  /** Name of the tool; the path if a model named the file itself. */
  readonly name: string
  readonly isReadOnly?: boolean
  readonly isBounded?: boolean
}

/** Creates the filter of tools that a process is offered. Devices mounted for it are its own: it has all their tools. */
function createOfferFilter({
  spec: { tools },
  grantedDevices,
  foundTools,
}: Process): (registered: RegisteredTool) => boolean {
  if (tools === null) return () => true
  const names = new Set([...tools, ...foundTools])
  const roots = [...tools, ...grantedDevices].filter((path) => path.startsWith('/'))
  return ({ root, tool }) => names.has(tool.name) || roots.some((path) => isWithin(root, path))
}

/** Definitions of tools, which are the same in every request. */
const definitions = new WeakMap<DeviceTool, ToolDefinition>()

function toDefinition({ tool }: RegisteredTool): ToolDefinition {
  const { name, description, inputSchema: input_schema } = tool
  const definition = definitions.get(tool) ?? {
    name,
    description,
    input_schema: dropSafeLimits(input_schema),
  }
  definitions.set(tool, definition)
  return definition
}

/** Drops the limits of safe integers, which say nothing to a model and cost tokens in every request. */
function dropSafeLimits<Schema>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (key, part: unknown) => {
    const isLimit =
      (key === 'maximum' || key === 'minimum') && Math.abs(Number(part)) === Number.MAX_SAFE_INTEGER
    return isLimit ? undefined : part
  })
}

function isArguments(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

function createFailingCall(path: string, error: unknown): PreparedCall {
  return { path, input: '', isReadOnly: false, run: () => Promise.reject(error) }
}
