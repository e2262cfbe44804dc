import type { Process, ProcessOptions, SpawnOptions } from '../kernel/index.ts'
import { isWithin, VfsError } from '../vfs/index.ts'

/** Options that a process was started with. Absent ones were up to its agent and the home. */
export type GivenOptions = Pick<ProcessOptions, 'skills' | 'tools' | 'budget' | 'max_steps' | 'groups'>

/** Settings of a process, for those that continue it. */
export interface ProcessSettings {
  readonly given: GivenOptions
  /** Allowed device paths without its own MCP servers; null allows all. */
  readonly allowed_devices: readonly string[] | null
  /** Limit in tokens; 0 for no limit. */
  readonly budget: number
  readonly max_steps: number
  readonly fallbacks: NonNullable<SpawnOptions['fallbacks']>
}

/** Facts about a recorded process that its remaining limits follow from. */
interface RecordedUse {
  readonly pid: number
  readonly tokens_used: number
  readonly settings?: ProcessSettings | undefined
}

/** Returns the options among the resolved ones of a process, without those of its agent. */
export function listGivenOptions(options: SpawnOptions): GivenOptions {
  return {
    skills: options.agent?.addedSkills,
    tools: options.tools,
    budget: options.contextBudget,
    max_steps: options.maxSteps,
    groups: options.groups,
  }
}

/** Returns the settings of a process that starts, in the groups that it has joined. */
export function readSettings({ spec, groups }: Process, given: GivenOptions): ProcessSettings {
  return {
    given: { ...given, groups: [...groups] },
    allowed_devices: spec.allowedDevices,
    budget: spec.contextBudget,
    max_steps: spec.maxSteps,
    fallbacks: spec.fallbacks,
  }
}

/**
 * Returns the tokens and steps that a process has left of its limits; none for one whose settings were not recorded.
 * Throws EINVAL if it has used them up.
 */
export function getRemainingLimits(
  { pid, tokens_used, settings }: RecordedUse,
  steps: readonly { readonly tokens_used: number }[],
): Pick<ProcessOptions, 'budget' | 'max_steps'> {
  if (settings === undefined) return {}
  const { budget, max_steps } = settings
  // The record of a lost process has no tokens. That of a killed one may have more than its steps.
  const recorded = steps.reduce((sum, step) => sum + step.tokens_used, 0)
  const tokensLeft = budget - Math.max(tokens_used, recorded)
  const stepsLeft = max_steps - steps.length
  if (budget > 0 && tokensLeft <= 0) throw createUsedUpError(pid, `${budget} tokens`, '--budget')
  if (stepsLeft <= 0) throw createUsedUpError(pid, `${max_steps} steps`, '--max-steps')
  return { budget: budget === 0 ? 0 : tokensLeft, max_steps: stepsLeft }
}

function createUsedUpError(pid: number, limit: string, option: string): VfsError {
  const detail = `process ${pid} has used its ${limit}; start another from it with: coppice spawn "…" --from ${pid} ${option} <number>`
  return new VfsError('EINVAL', `/proc/${pid}`, { op: 'resume', detail })
}

/** Returns the device paths that both lists allow; null allows all. */
export function intersectDevices(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other
  const keepWithin = (paths: readonly string[], roots: readonly string[]) =>
    paths.filter((path) => roots.some((root) => isWithin(path, root)))
  return [...new Set([...keepWithin(one, other), ...keepWithin(other, one)])]
}
