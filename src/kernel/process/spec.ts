import type { ProcessSpec } from './process.ts'
import type { SpawnOptions, Surroundings } from './spawn-options.ts'

/** What a process has unless it is told otherwise. */
export interface ProcessDefaults {
  readonly provider: string
  readonly model: string
  readonly maxSteps: number
  /** How many messages a context holds. */
  readonly contextSize: number
  readonly timeoutMs: number
}

export const defaultsOfProcesses: ProcessDefaults = {
  provider: 'claude',
  model: '',
  maxSteps: 10,
  contextSize: 64,
  timeoutMs: 300_000,
}

/** An option counts before the agent, and the agent before the default. */
export function specOf(
  pid: number,
  intent: string,
  { agent, parent = 0, ...options }: SpawnOptions,
  { fs, caller }: Surroundings,
  defaults: ProcessDefaults,
): ProcessSpec {
  return {
    pid,
    ppid: parent,
    intent,
    skills: agent?.skills ?? [],
    provider: options.provider ?? agent?.provider ?? defaults.provider,
    model: options.model ?? agent?.model ?? defaults.model,
    contextBudget: Math.max(0, options.contextBudget ?? agent?.contextBudget ?? 0),
    allowedDevices: agent?.allowedDevices ?? null,
    caller,
    fs,
  }
}
