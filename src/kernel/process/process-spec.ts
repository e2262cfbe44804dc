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
  /** Time for attempts after a temporary failure of a model. Then the process is paused; with 0 it fails. */
  readonly retryMs: number
  /** Limit in tokens; 0 for no limit. */
  readonly contextBudget: number
  /** Tools offered from the beginning, by name or device path; null offers all. */
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
 * Creates the settings of a process. Options override the agent, and the agent overrides the defaults. A program has no
 * model unless one is named.
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

/** Adds to the default tools those of the devices that the agent declares, and those that it or an option names. */
function resolveTools(
  { tools = [] }: SpawnOptions,
  agent: AgentSpec | undefined,
  { tools: defaultTools }: ProcessDefaults,
): ProcessSpec['tools'] {
  if (defaultTools === null) return null
  return [...new Set([...defaultTools, ...(agent?.allowedDevices ?? []), ...(agent?.tools ?? []), ...tools])]
}

/** Returns the fallbacks of the options, else of the agent; none of the agent if an option names provider or model. */
function resolveFallbacks(
  { provider: chosen, model, fallbacks }: SpawnOptions,
  agent: AgentSpec | undefined,
  provider: string,
): ProcessSpec['fallbacks'] {
  const isChosen = chosen !== undefined || model !== undefined
  const others = fallbacks ?? (isChosen ? [] : (agent?.fallbacks ?? []))
  return others.map((choice) => ({ provider: choice.provider ?? provider, model: choice.model ?? '' }))
}
