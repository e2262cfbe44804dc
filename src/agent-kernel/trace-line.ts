import type { KernelEvent, Redactor, TextEvent } from '../kernel/index.ts'

/** One system call of a process, or one step of its life, as text. */
export interface TraceLine {
  readonly pid: number
  readonly elapsed_ms: number
  readonly call: string
  readonly args: readonly string[]
  /** Empty unless it is a call. */
  readonly result: string
  readonly error: string | null
  readonly duration_ms: number
}

/** A log line of a process. */
export interface LogLine {
  readonly pid: number
  readonly elapsed_ms: number
  readonly text: string
  /** True for a part of a model's text while it arrives: parts are joined without line breaks. */
  readonly is_partial?: true
}

const MAX_SHOWN_CHARACTERS = 80
/** Redaction examines more than is shown, since a part of a secret would not be recognised. */
const MAX_EXAMINED_BYTES = 1024
const decoder = new TextDecoder()

/** Formats an event as a trace line. Nothing of the event is retained. */
export function toTraceLine(event: Exclude<KernelEvent, TextEvent>, redactor: Redactor): TraceLine {
  const { pid, elapsed: elapsed_ms } = event
  const words = (value: unknown) => formatValue(value, redactor)
  if (event.kind === 'syscall') {
    const { call, args, result, error = null, duration: duration_ms } = event
    const output = error === null ? words(result) : ''
    const failure = error === null ? null : redactor.redactText(error)
    return { pid, elapsed_ms, call, args: args.map(words), result: output, error: failure, duration_ms }
  }
  const args = listDetails(event).map((detail) => redactor.redactText(detail))
  return { pid, elapsed_ms, call: event.kind, args, result: '', error: null, duration_ms: 0 }
}

/** Formats an event as a log line; undefined if it does not belong in a log. */
export function toLogLine(event: KernelEvent, redactor: Redactor): LogLine | undefined {
  if (event.kind === 'text') {
    return { pid: event.pid, elapsed_ms: event.elapsed, text: event.text, is_partial: true }
  }
  const text = formatLogText(event)
  if (text === undefined) return undefined
  return { pid: event.pid, elapsed_ms: event.elapsed, text: redactor.redactText(text) }
}

function formatLogText(event: KernelEvent): string | undefined {
  switch (event.kind) {
    case 'log':
    case 'budget_exceeded':
      return event.text
    case 'tool':
      return `runs ${event.text}`
    case 'spawned':
      return `begins: ${event.detail ?? ''}`
    case 'ended':
      return `ended: ${event.detail ?? ''}`
    case 'paused':
      return event.detail === undefined ? 'paused' : `paused: ${event.detail}`
    case 'resumed':
      return 'resumed'
    case 'stalled':
      return 'no sign of life for a while; coppice strace shows its last call'
    case 'signal':
      return event.detail
    default:
      return undefined
  }
}

function listDetails(event: Exclude<KernelEvent, { readonly kind: 'syscall' | 'text' }>): string[] {
  if (event.kind === 'reap') return [event.step]
  if ('text' in event) return [event.text]
  return event.detail === undefined ? [] : [event.detail]
}

function formatValue(value: unknown, redactor: Redactor): string {
  if (value === undefined) return ''
  if (value instanceof Uint8Array) {
    return `${formatQuoted(decoder.decode(value.subarray(0, MAX_EXAMINED_BYTES + 1)), redactor)} (${value.length} bytes)`
  }
  return typeof value === 'string'
    ? formatQuoted(value, redactor)
    : truncateText(redactor.redactText(String(JSON.stringify(value))))
}

function formatQuoted(text: string, redactor: Redactor): string {
  return JSON.stringify(truncateText(redactor.redactText(cutForRedaction(text))))
}

/** Cuts at the last whole word: a part of a secret at the end would not be recognised. */
function cutForRedaction(text: string): string {
  return text.length <= MAX_EXAMINED_BYTES ? text : text.slice(0, MAX_EXAMINED_BYTES).replace(/\S+$/, '…')
}

function truncateText(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…` : text
}
