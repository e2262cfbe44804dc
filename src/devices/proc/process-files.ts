import type { ContextManager, EventSummary, Process, Redactor, StepRecord } from '../../kernel/index.ts'

/** Redacts secrets from the output about a process. */
export type ProcRedactor = Pick<Redactor, 'redactText' | 'redactValue'>

/** Sources of the files of a process. */
export interface ProcessSources {
  readonly contexts: Pick<ContextManager, 'getContextSummary'>
  /** Returns the steps of a process so far. */
  steps(uuid: string): Promise<readonly StepRecord[]>
  readonly redactor: ProcRedactor
}

type ReadProcessFile = (process: Process, sources: ProcessSources) => string | Promise<string>

/** Readers of the files of a process, by name. */
export const processFiles: Readonly<Record<string, ReadProcessFile>> = {
  status: (process, { redactor }) => `${JSON.stringify(toProcessStatus(process, redactor))}\n`,
  intent: ({ spec: { intent } }, { redactor }) => redactor.redactText(intent),
  context: ({ contextId }, { contexts, redactor }) =>
    contexts.getContextSummary(contextId, (text) => redactor.redactText(text)),
  fds: ({ descriptors }, { redactor }) =>
    `${JSON.stringify(descriptors.list().map(({ fd, path }) => ({ fd, path: redactor.redactText(path) })))}\n`,
  log: ({ log }, { redactor }) => formatChannel(log, (line) => redactor.redactText(line)),
  debug: ({ debug }, { redactor }) =>
    formatChannel(debug, (event) => redactor.redactText(formatEvent(event))),
  steps: async ({ uuid }, { steps, redactor }) => {
    const summaries = redactor.redactValue((await steps(uuid)).map(toStepSummary))
    return summaries.map((step) => `${JSON.stringify(step)}\n`).join('')
  },
}

/** Formats the items of a channel, one line each, and how many it dropped. */
function formatChannel<Item>(
  { waiting, dropped }: { readonly waiting: readonly Item[]; readonly dropped: number },
  format: (item: Item) => string,
): string {
  const lines = waiting.map(format)
  const rest = dropped === 0 ? [] : [`… ${dropped} more were dropped`]
  return [...lines, ...rest].map((line) => `${line}\n`).join('')
}

function formatEvent({ kind, elapsed, call }: EventSummary): string {
  const time = (elapsed / 1000).toFixed(3)
  if (call === undefined) return `${time} ${kind}`
  const failure = call.error === undefined ? '' : `: ${call.error}`
  return `${time} ${call.call} ${call.duration.toFixed(2)} ms${failure}`
}

/** Returns the status of a process as JSON. `allowed_devices` is null if all are allowed. */
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
    allowed_devices: allowedDevices,
  }
}

/** Returns a step without its conversation. */
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
