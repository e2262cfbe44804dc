import type { DaemonMethods, DaemonStreams } from '../../daemon/client/index.ts'
import { escapeName, escapeText } from '../../text/index.ts'
import { applyStyle, type Terminal } from '../framework/terminal.ts'
import { formatTable } from './table.ts'

export type ProcessInfo = DaemonMethods['wait']['result']
type TraceEvent = DaemonStreams['strace']['event']
type LogEvent = DaemonStreams['logs']['event']

const SECOND_MS = 1000
const MINUTE_S = 60
const INTENT_CHARACTERS = 48
/** A call that takes longer is marked. */
const SLOW_MS = 100

const HEADINGS = ['PID', 'PPID', 'STATE', 'STEP', 'TOKENS', 'TIME', 'PROVIDER', 'FORK', 'INTENT']

/** Formats processes as a table with a head line. */
export function formatProcessTable(processes: readonly ProcessInfo[]): string[] {
  return formatTable([HEADINGS, ...processes.map(toProcessRow)])
}

function toProcessRow(process: ProcessInfo): string[] {
  const { pid, ppid, step, max_steps, tokens_used, elapsed_ms, provider, fork, intent, agent } = process
  // Results of others follow the task of a composed process.
  const [task = ''] = intent.split('\n', 1)
  return [
    String(pid),
    String(ppid),
    formatState(process),
    step === 0 ? '-' : `${step}/${max_steps}`,
    String(tokens_used),
    formatDuration(elapsed_ms),
    escapeName(provider) || '-',
    fork ?? '-',
    truncateText(escapeName(agent === null ? task : `${agent}: ${task}`), INTENT_CHARACTERS),
  ]
}

/** Formats the state: `running`, or how the process ended. */
function formatState({ state, exit_code: code }: ProcessInfo): string {
  return state === 'ended' ? `exit ${code}` : state
}

/** Formats a duration: `0.4s`, `1m 12s`. */
export function formatDuration(ms: number): string {
  const seconds = ms / SECOND_MS
  if (seconds < MINUTE_S) return `${seconds.toFixed(1)}s`
  return `${Math.floor(seconds / MINUTE_S)}m ${Math.floor(seconds % MINUTE_S)}s`
}

/** Formats a call: time, name, arguments, result, duration. */
export function formatTraceEvent(
  event: TraceEvent,
  terminal: Terminal,
  { showsPid = false }: { readonly showsPid?: boolean } = {},
): string {
  if ('missed' in event) return formatMissed(event.missed)
  const { pid, elapsed_ms, call, args, result, error, duration_ms } = event
  const when = `${showsPid ? `[${pid}] ` : ''}${(elapsed_ms / SECOND_MS).toFixed(3).padStart(8)}`
  const what = `${call}(${args.map(toSingleLine).join(', ')})`
  const outcome = error === null ? toSingleLine(result) : `ERROR ${toSingleLine(error)}`
  if (outcome === '' && duration_ms === 0) return `${when}  ${what}`
  const isSlow = duration_ms >= SLOW_MS
  const time = `<${duration_ms.toFixed(2)}ms>${isSlow ? ' SLOW' : ''}`
  const line = `${when}  ${what} = ${outcome || '0'}`
  return `${error === null ? line : applyStyle(terminal, 'red', line)} ${isSlow ? applyStyle(terminal, 'yellow', time) : time}`
}

export function formatLogEvent(event: LogEvent): string {
  if ('missed' in event) return formatMissed(event.missed)
  return `${(event.elapsed_ms / SECOND_MS).toFixed(3).padStart(8)}  ${toSingleLine(event.text)}`
}

/** Cuts a text to a length. */
export function truncateText(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text
}

/** Escapes a text and joins its lines. */
function toSingleLine(text: string): string {
  return escapeText(text).replaceAll('\n', ' ')
}

function formatMissed(count: number): string {
  return `          … ${count} more were dropped: they came faster than they were read`
}
