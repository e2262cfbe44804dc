import type { ContextManager, Process, Redactor, StepRecord } from '../../kernel/index.ts'

/** Takes secrets out of what is told of a process. */
export type ProcRedactor = Pick<Redactor, 'redactText' | 'redactValue'>

/** Where the files of a process are read from. */
export interface ProcessSources {
  readonly contexts: Pick<ContextManager, 'getContextSummary'>
  /** The steps a process made so far. */
  steps(uuid: string): Promise<readonly StepRecord[]>
  readonly redactor: ProcRedactor
}

type ReadProcessFile = (process: Process, sources: ProcessSources) => string | Promise<string>

/** The files of a process by their names. */
export const processFiles: Readonly<Record<string, ReadProcessFile>> = {
  status: (process, { redactor }) => `${JSON.stringify(toProcessStatus(process, redactor))}\n`,
  intent: ({ spec: { intent } }, { redactor }) => redactor.redactText(intent),
  context: ({ contextId }, { contexts, redactor }) =>
    contexts.getContextSummary(contextId, (text) => redactor.redactText(text)),
  fds: ({ descriptors }, { redactor }) =>
    `${JSON.stringify(descriptors.list().map(({ fd, path }) => ({ fd, path: redactor.redactText(path) })))}\n`,
  steps: async ({ uuid }, { steps, redactor }) => {
    const told = redactor.redactValue((await steps(uuid)).map(toStepSummary))
    return told.map((step) => `${JSON.stringify(step)}\n`).join('')
  },
}

/** No devices listed stands for all of them. */
function toProcessStatus(
  { pid, ppid, state, spec, tokensUsed, elapsed, allowedDevices }: Process,
  redactor: ProcRedactor,
): object {
  return {
    pid,
    ppid,
    state,
    intent: redactor.redactText(spec.intent),
    skills: spec.skills,
    tokens_used: tokensUsed,
    elapsed_ms: Math.round(elapsed),
    allowed_devices: allowedDevices ?? [],
  }
}

/** A step without the conversation that led to it. */
function toStepSummary({
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
