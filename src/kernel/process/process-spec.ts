import type { ProcessSpec } from './process.ts'
import type { AgentSpec, ProcessEnvironment, SpawnOptions } from './spawn-options.ts'

/** Default settings of a process. */
export interface ProcessDefaults {
  readonly provider: string
  readonly model: string
  readonly maxSteps: number
  /** Number of messages that a context can hold. */
  readonly contextSize: number
  readonly timeoutMs: number
  /** Time for further attempts after a temporary failure of a model, then the process is paused; with 0 it fails at once. */
  readonly retryMs: number
  /** Limit of a context in tokens; 0 for no limit. */
  readonly contextBudget: number
  /** Tools offered with the first request, by name or device path; null offers all. */
  readonly tools: readonly string[] | null
}

export const processDefaults: ProcessDefaults = {
  provider: 'claude',
  model: '',
  maxSteps: 10,
  contextSize: 64,
  timeoutMs: 300_000,
  retryMs: 0,
  contextBudget: 0,
  tools: null,
}

/**
 * Creates the settings of a process. Options override the agent, and the agent overrides the defaults. A process that
 * runs a program, and not the steps of a model, has no default model.
 */
export function createSpec(
  pid: number,
  intent: string,
  { agent, parent = 0, ...options }: SpawnOptions,
  { fs, caller, boundOutput, saveFiles }: ProcessEnvironment,
  defaults: ProcessDefaults,
): ProcessSpec {
  const usual = options.program === undefined ? defaults : { provider: '', model: '' }
  const provider = options.provider ?? agent?.provider ?? usual.provider
  return {
    pid,
    ppid: parent,
    intent,
    skills: agent?.skills ?? [],
    provider,
    model: options.model ?? agent?.model ?? usual.model,
    fallbacks: resolveFallbacks(options, agent, provider),
    contextBudget: Math.max(0, options.contextBudget ?? agent?.contextBudget ?? defaults.contextBudget),
    maxSteps: options.maxSteps ?? agent?.maxSteps ?? defaults.maxSteps,
    allowedDevices: agent?.allowedDevices ?? null,
    tools: resolveTools(options, agent, defaults),
    caller,
    fs,
    boundOutput,
    saveFiles,
  }
}

/**
 * Returns the tools of a process: the default ones, those of the devices of the agent, and those that the agent or the
 * options name. Null, which offers all, if the defaults do.
 */
function resolveTools(
  { tools = [] }: SpawnOptions,
  agent: AgentSpec | undefined,
  { tools: defaultTools }: ProcessDefaults,
): ProcessSpec['tools'] {
  if (defaultTools === null) return null
  return [...new Set([...defaultTools, ...(agent?.allowedDevices ?? []), ...(agent?.tools ?? []), ...tools])]
}

/**
 * Returns the fallbacks that the options name, else those of the agent. The agent's belong to its own model: with options
 * that name a provider or a model there are none.
 */
function resolveFallbacks(
  { provider: chosen, model, fallbacks }: SpawnOptions,
  agent: AgentSpec | undefined,
  provider: string,
): ProcessSpec['fallbacks'] {
  const isChosen = chosen !== undefined || model !== undefined
  const others = fallbacks ?? (isChosen ? [] : (agent?.fallbacks ?? []))
  return others.map((choice) => ({ provider: choice.provider ?? provider, model: choice.model ?? '' }))
}
