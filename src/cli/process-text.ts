import type { DaemonMethods, DaemonStreams } from '../server/daemon/client/index.ts'
import { escapedText, shown } from '../server/text/index.ts'
import { table } from './table.ts'
import { styled, type Terminal } from './terminal.ts'

export type ProcessStatus = DaemonMethods['wait']['result']
type TraceEvent = DaemonStreams['strace']['event']
type LogEvent = DaemonStreams['logs']['event']

const SECOND_MS = 1000
const MINUTE_S = 60
const INTENT_CHARACTERS = 48
/** A call that takes longer is marked. */
const SLOW_MS = 100

const HEADINGS = ['PID', 'PPID', 'STATE', 'STEP', 'TOKENS', 'TIME', 'PROVIDER', 'FORK', 'INTENT']

/** Processes, one a line, below what the columns are. */
export function processTable(processes: readonly ProcessStatus[]): string[] {
  return table([HEADINGS, ...processes.map(rowOf)])
}

function rowOf(process: ProcessStatus): string[] {
  const { pid, ppid, step, max_steps, tokens_used, elapsed_ms, provider, fork, intent, agent } = process
  return [
    String(pid),
    String(ppid),
    stateText(process),
    step === 0 ? '-' : `${step}/${max_steps}`,
    String(tokens_used),
    durationText(elapsed_ms),
    shown(provider),
    fork ?? '-',
    cut(shown(agent === null ? intent : `${agent}: ${intent}`), INTENT_CHARACTERS),
  ]
}

/** `running`, or how it ended. */
function stateText({ state, exit_code: code }: ProcessStatus): string {
  return state === 'ended' ? `exit ${code}` : state
}

/** `0.4s`, `1m 12s`. */
export function durationText(ms: number): string {
  const seconds = ms / SECOND_MS
  if (seconds < MINUTE_S) return `${seconds.toFixed(1)}s`
  return `${Math.floor(seconds / MINUTE_S)}m ${Math.floor(seconds % MINUTE_S)}s`
}

/** One call: when, which, with what, what came of it, and how long it took. */
export function traceText(
  event: TraceEvent,
  terminal: Terminal,
  { showsPid = false }: { readonly showsPid?: boolean } = {},
): string {
  if ('missed' in event) return missedText(event.missed)
  const { pid, elapsed_ms, call, args, result, error, duration_ms } = event
  const when = `${showsPid ? `[${pid}] ` : ''}${(elapsed_ms / SECOND_MS).toFixed(3).padStart(8)}`
  const what = `${call}(${args.map(oneLine).join(', ')})`
  const outcome = error === null ? oneLine(result) : `ERROR ${oneLine(error)}`
  if (outcome === '' && duration_ms === 0) return `${when}  ${what}`
  const isSlow = duration_ms >= SLOW_MS
  const time = `<${duration_ms.toFixed(2)}ms>${isSlow ? ' SLOW' : ''}`
  const line = `${when}  ${what} = ${outcome || '0'}`
  return `${error === null ? line : styled(terminal, 'red', line)} ${isSlow ? styled(terminal, 'yellow', time) : time}`
}

export function logText(event: LogEvent): string {
  if ('missed' in event) return missedText(event.missed)
  return `${(event.elapsed_ms / SECOND_MS).toFixed(3).padStart(8)}  ${oneLine(event.text)}`
}

/** A text in at most so many characters. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text
}

/** What others said, on one line, and without what would steer a terminal. */
function oneLine(text: string): string {
  return escapedText(text).replaceAll('\n', ' ')
}

function missedText(count: number): string {
  return `          … ${count} more, which came faster than they were read`
}
