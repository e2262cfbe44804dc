import type { ContextManager, Process, StepRecord } from '../../kernel/index.ts'

/** Where the files of a process are read from. */
export interface ProcessSources {
  readonly contexts: Pick<ContextManager, 'getContextSummary'>
  /** The steps a process made so far. */
  steps(uuid: string): Promise<readonly StepRecord[]>
}

type Content = (process: Process, sources: ProcessSources) => string | Promise<string>

/** The files of a process by their names. */
export const processFiles: Readonly<Record<string, Content>> = {
  status: (process) => `${JSON.stringify(statusOf(process))}\n`,
  intent: ({ spec: { intent } }) => intent,
  context: ({ contextId }, { contexts }) => contexts.getContextSummary(contextId),
  fds: ({ descriptors }) => `${JSON.stringify(descriptors.list().map(({ fd, path }) => ({ fd, path })))}\n`,
  steps: async ({ uuid }, sources) => {
    const steps = await sources.steps(uuid)
    return steps.map((step) => `${JSON.stringify(summaryOf(step))}\n`).join('')
  },
}

/** No devices listed stands for all of them. */
function statusOf({ pid, ppid, state, spec, tokensUsed, elapsed, allowedDevices }: Process): object {
  return {
    pid,
    ppid,
    state,
    intent: spec.intent,
    skills: spec.skills,
    tokens_used: tokensUsed,
    elapsed_ms: Math.round(elapsed),
    allowed_devices: allowedDevices ?? [],
  }
}

/** A step without the conversation that led to it. */
function summaryOf({
  step_number,
  timestamp,
  action,
  summary,
  tool_path,
  tool_error,
  tokens_used,
}: StepRecord): object {
  return { step_number, timestamp, action, summary, tool_path, tool_error, tokens_used }
}
