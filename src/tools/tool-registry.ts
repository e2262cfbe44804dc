import { z } from 'zod'
import { contextCaller } from '../access/index.ts'
import { type CallContext, type Caller, type FileSystem, VfsError } from '../vfs/index.ts'
import { listTools } from './builtin-tools.ts'
import { TOOL_CACHE } from './cache/index.ts'
import { parseArguments } from './parse-arguments.ts'
import type { ReadTracker } from './read-tracker.ts'
import { getCutPosition, truncateText } from './text/character-cut.ts'
import type { ImageOutput, Tool, ToolCall, ToolHints } from './tool.ts'
import { createToolEnvironment, type RegistryEnvironment, type ToolNamespace } from './tool-namespace.ts'
import { createFailure, createSuccess, type ToolResult, toFailure } from './tool-result.ts'
import { toUri } from './uri.ts'

const DEFAULT_CONTEXT = 'agent'
/** Limit of a read from the cache. Such an output is cut and not cached: a stub must not lead to another stub. */
const MAX_CACHE_READ_CHARACTERS = 40_000
/** Limit of an unknown tool's name in a message. */
const MAX_NAME_CHARACTERS = 60

/** Description of a tool for clients. */
export interface ToolInfo {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly hints: ToolHints
  /** JSON Schema of the arguments, draft 2020-12. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** Zod schema of the arguments, for frameworks that take a Standard Schema. */
  readonly schema: z.ZodType
}

/** Options of one tool call. */
export interface CallOptions {
  /** Cancels the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Trace id of the call in the journal. */
  readonly trace?: string
  /** Receives messages about the progress of the call. */
  readonly progress?: ToolCall['progress']
  /** Asks the person behind the call, such as whether a command may reach the network. */
  readonly ask?: ToolCall['ask']
  /** Versions of files that the caller has read; when absent, those read through this registry. */
  readonly reads?: ReadTracker
}

/** The tools of one caller. */
export interface ToolRegistry {
  readonly tools: readonly ToolInfo[]
  /**
   * Calls a tool. Failures are returned as results, also an unknown tool and invalid arguments. Only an aborted call
   * rejects, with the signal's reason.
   */
  call(name: string, args: unknown, options?: CallOptions): Promise<ToolResult>
}

/** Options of `agentTools` and `createToolRegistry`. */
export interface AgentToolsOptions {
  /** Name of the agent's context that the tools act for; `agent` when absent. */
  readonly context?: string
  /** Caller within the context, such as a process; the context itself when absent. */
  readonly caller?: Caller
  /** Names of the tools to include; all when absent. */
  readonly tools?: readonly string[]
}

/** Creates the tools for a namespace, or for any file system. EINVAL for an invalid context or an unknown tool. */
export function createToolRegistry(
  namespace: ToolNamespace | FileSystem,
  { context = DEFAULT_CONTEXT, caller = contextCaller(context), tools: names }: AgentToolsOptions = {},
): ToolRegistry {
  const environment = createToolEnvironment(namespace)
  const all = listTools(environment)
  const tools = names === undefined ? all : names.map((name) => getTool(name, all))
  return new BuiltinToolRegistry(tools, environment, context, caller)
}

class BuiltinToolRegistry implements ToolRegistry {
  readonly tools: readonly ToolInfo[]
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #environment: RegistryEnvironment
  readonly #context: string
  readonly #caller: Caller

  constructor(tools: readonly Tool[], environment: RegistryEnvironment, context: string, caller: Caller) {
    this.#caller = caller
    this.#context = context
    this.#environment = environment
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]))
    this.tools = tools.map(getToolInfo)
  }

  async call(
    name: string,
    args: unknown,
    { signal, trace, progress, ask, reads = this.#environment.reads }: CallOptions = {},
  ): Promise<ToolResult> {
    signal?.throwIfAborted()
    const tool = this.#byName.get(name)
    if (tool === undefined) return this.#createUnknownToolResult(name)
    const parsed = parseArguments(tool, args)
    if ('problem' in parsed)
      return createFailure({ code: 'EINVAL', message: `EINVAL: ${name}: ${parsed.problem}` })
    const ctx = {
      caller: this.#caller,
      ...(signal !== undefined && { signal }),
      ...(trace !== undefined && { trace }),
    }
    try {
      const environment = { ...this.#environment, reads }
      const output = await tool.run(parsed.args, environment, { ctx, progress: progress ?? noop, ask })
      return await this.#createResult(tool, parsed.args, output, ctx)
    } catch (error) {
      signal?.throwIfAborted()
      return toFailure(error, name)
    }
  }

  /** Returns the result of a call. A long output is cached, and a stub with its path takes its place. */
  async #createResult(
    tool: Tool,
    args: unknown,
    output: string | ImageOutput,
    ctx: CallContext,
  ): Promise<ToolResult> {
    if (typeof output !== 'string') return { ...output, isError: false }
    if (this.#environment.cache === undefined || tool.isBounded) return createSuccess(output)
    if (tool.hints.readOnly && readsCachedOutput(args)) return createSuccess(truncateOutput(output))
    const { text, cached } = await this.#environment.cache.keep(this.#context, tool.name, output, ctx)
    return createSuccess(text, cached)
  }

  #createUnknownToolResult(name: string): ToolResult {
    const known = [...this.#byName.keys()].join(', ')
    return createFailure({
      code: 'ENOTSUP',
      message: `ENOTSUP: there is no tool '${truncateText(name, MAX_NAME_CHARACTERS)}'; there are: ${known}`,
    })
  }
}

/** Returns the tool of a name. EINVAL if there is none. */
function getTool(name: string, tools: readonly Tool[]): Tool {
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool !== undefined) return tool
  const known = tools.map((candidate) => candidate.name).join(', ')
  throw new VfsError('EINVAL', name, { op: 'tools', detail: `there is no such tool; there are: ${known}` })
}

/** Cached for each tool: converting a schema takes longer than most calls. */
const toolInfos = new WeakMap<Tool, ToolInfo>()

/** Returns the description of a tool for clients, with the JSON Schema of its arguments. */
export function getToolInfo(tool: Tool): ToolInfo {
  const known = toolInfos.get(tool)
  if (known !== undefined) return known
  const { name, title, description, hints, schema } = tool
  const inputSchema = z.toJSONSchema(schema, { io: 'input', override: removeSafeIntegerLimits })
  const info = { name, title, description, hints, schema, inputSchema }
  toolInfos.set(tool, info)
  return info
}

/** Removes the limits of safe integers, of which a model learns nothing. */
function removeSafeIntegerLimits({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

/** Reports whether a call reads a cached output. */
function readsCachedOutput(args: unknown): boolean {
  if (typeof args !== 'object' || args === null || !('path' in args)) return false
  return typeof args.path === 'string' && args.path.startsWith(`${toUri(TOOL_CACHE)}/`)
}

function truncateOutput(output: string): string {
  if (output.length <= MAX_CACHE_READ_CHARACTERS) return output
  const newline = output.lastIndexOf('\n', MAX_CACHE_READ_CHARACTERS)
  const head = output.slice(0, newline > 0 ? newline : getCutPosition(output, MAX_CACHE_READ_CHARACTERS))
  return `${head}\n… (cut at ${head.length} of ${output.length} characters; ask for fewer lines)`
}

function noop(): void {}
