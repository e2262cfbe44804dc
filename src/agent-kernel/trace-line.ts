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
const MAX_EXAMINED_BYTES = 512
const decoder = new TextDecoder()

/** A value of a call: its beginning, before redaction. */
interface ShortValue {
  readonly text: string
  /** `whole` is shown as it is, the others are cut. */
  readonly form: 'quoted' | 'plain' | 'whole'
  /** Length of the whole value, if it is bytes. */
  readonly bytes?: number
}

/** The part of an event that its trace line is made of. Long values are cut, so that it retains nothing of the event. */
export interface ShortTrace extends Omit<TraceLine, 'args' | 'result'> {
  readonly args: readonly ShortValue[]
  readonly result: ShortValue
}

const NO_VALUE: ShortValue = { text: '', form: 'plain' }

/** Shortens an event for a trace line. It does not redact: most lines are never read. */
export function shortenTrace(event: Exclude<KernelEvent, TextEvent>): ShortTrace {
  const { pid, elapsed: elapsed_ms } = event
  if (event.kind === 'syscall') {
    const { call, args, error = null, duration: duration_ms } = event
    const result = error === null ? shortenValue(event.result) : NO_VALUE
    return { pid, elapsed_ms, call, args: args.map(shortenValue), result, error, duration_ms }
  }
  const args = listDetails(event).map((text) => ({ text, form: 'whole' as const }))
  return { pid, elapsed_ms, call: event.kind, args, result: NO_VALUE, error: null, duration_ms: 0 }
}

/** Formats a shortened event, without secrets. */
export function formatTrace({ args, result, error, ...trace }: ShortTrace, redactor: Redactor): TraceLine {
  return {
    ...trace,
    args: args.map((value) => formatValue(value, redactor)),
    result: formatValue(result, redactor),
    error: error === null ? null : redactor.redactText(error),
  }
}

/** Returns the log line of an event, with its secrets; undefined if the event does not belong in a log. */
export function toLogLine(event: KernelEvent): LogLine | undefined {
  const { pid, elapsed: elapsed_ms } = event
  if (event.kind === 'text') return { pid, elapsed_ms, text: event.text, is_partial: true }
  const text = formatLogText(event)
  return text === undefined ? undefined : { pid, elapsed_ms, text }
}

/** Removes the secrets of a log line. Parts of a text pass: a secret may be divided among them. */
export function redactLogLine(line: LogLine, redactor: Redactor): LogLine {
  return line.is_partial === true ? line : { ...line, text: redactor.redactText(line.text) }
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

function shortenValue(value: unknown): ShortValue {
  if (value === undefined) return NO_VALUE
  if (typeof value === 'number') return { text: String(value), form: 'plain' }
  if (typeof value === 'string') return { text: copyBeginning(value), form: 'quoted' }
  if (!(value instanceof Uint8Array)) return { text: formatBeginning(value), form: 'plain' }
  const text = decoder.decode(value.subarray(0, MAX_EXAMINED_BYTES + 1))
  return { text, form: 'quoted', bytes: value.length }
}

/** Copies the beginning of a text: a slice would retain the whole of it. */
function copyBeginning(text: string): string {
  if (text.length <= MAX_EXAMINED_BYTES) return text
  return Buffer.from(text.slice(0, MAX_EXAMINED_BYTES + 1), 'utf16le').toString('utf16le')
}

function formatValue({ text, form, bytes }: ShortValue, redactor: Redactor): string {
  if (form === 'whole') return redactor.redactText(text)
  const shown = truncateText(redactor.redactText(cutForRedaction(text)))
  const value = form === 'quoted' ? JSON.stringify(shown) : shown
  return bytes === undefined ? value : `${value} (${bytes} bytes)`
}

/** Formats the beginning of a JSON value: all of it would take longer than the traced call. */
function formatBeginning(value: unknown): string {
  let room = MAX_EXAMINED_BYTES
  return String(
    JSON.stringify(value, (_key, part: unknown) => {
      if (room <= 0) return undefined
      room -= typeof part === 'string' ? part.length : 1
      return typeof part === 'string' ? part.slice(0, MAX_EXAMINED_BYTES + 1) : part
    }),
  )
}

/** Cuts at the last whole word: a part of a secret at the end would not be recognised. */
function cutForRedaction(text: string): string {
  if (text.length <= MAX_EXAMINED_BYTES) return text
  let end = MAX_EXAMINED_BYTES
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end--
  return `${text.slice(0, end)}…`
}

function truncateText(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…` : text
}
