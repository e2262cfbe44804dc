import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient, DaemonStatus } from '../../../daemon/client/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatCount } from '../../render/format-values.ts'
import { formatProcessTable, type ProcessInfo } from '../../render/process-format.ts'

const SECOND_MS = 1000
const DEFAULT_INTERVAL_S = 1
/** Shorter intervals load the daemon without a visible effect. */
const MIN_INTERVAL_S = 0.05
/** Longer ones would overflow the timer, which then fires at once. */
const MAX_INTERVAL_S = 86_400
/** Ended processes shown below the running ones. */
const MAX_ENDED = 10
/** Size of a terminal that does not report one. */
const DEFAULT_COLUMNS = 80
const DEFAULT_ROWS = 24
/** Keys that quit; in raw mode Ctrl-C arrives as a key. */
const QUIT_KEYS = ['q', 'Q', '\u0003']
const ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l'
const MAIN_SCREEN = '\u001b[?25h\u001b[?1049l'
const CURSOR_HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

export const top: Command = defineCommand(
  {
    name: 'top',
    summary: 'Watch the running processes',
    details:
      'Running processes come first, then the last that ended. q quits. Prints once if the output is not a terminal.',
    scope: 'home',
    options: {
      once: { summary: 'Print once and exit' },
      every: { summary: 'Seconds between updates (1)', value: 'seconds' },
    },
    examples: ['coppice top', 'coppice top --every 5', 'coppice top --once', 'coppice top --json'],
  },
  (call) => {
    const every = parseInterval(call.option('every'))
    return withDaemon(call, async (client) => {
      const { output, terminal } = call
      if (call.isJson || call.has('once') || !terminal.isInteractive) {
        const { status, processes } = await fetchSnapshot(client, terminal.signal)
        await output.writeValue({ status, processes }, formatFrame(status, processes).join('\n'))
      } else await runTop(client, terminal, every)
    })
  },
)

function parseInterval(text = String(DEFAULT_INTERVAL_S)): number {
  const seconds = Number(text)
  if (seconds >= MIN_INTERVAL_S && seconds <= MAX_INTERVAL_S) return seconds
  throw new UsageError(`--every takes ${MIN_INTERVAL_S} to ${MAX_INTERVAL_S} seconds, not '${text}'`)
}

interface TopSnapshot {
  readonly status: DaemonStatus
  readonly processes: readonly ProcessInfo[]
}

async function fetchSnapshot(client: DaemonClient, signal: AbortSignal): Promise<TopSnapshot> {
  const status = await client.call('status', {}, signal)
  const all = await client.call('ps', { all: true }, signal)
  const isAtWork = ({ state }: ProcessInfo) => state === 'running' || state === 'paused'
  const ended = all.filter((process) => !isAtWork(process)).slice(-MAX_ENDED)
  return { status, processes: [...all.filter(isAtWork), ...ended.toReversed()] }
}

function formatFrame(
  { processes: running, cron_jobs, clients, pid }: DaemonStatus,
  processes: readonly ProcessInfo[],
): string[] {
  const tokens = processes.reduce((sum, { tokens_used }) => sum + tokens_used, 0)
  const numbers = [
    `${running} running`,
    formatCount(cron_jobs, 'cron job'),
    formatCount(clients, 'client'),
    formatCount(tokens, 'token'),
  ]
  const head = `coppice: ${numbers.join(', ')}; daemon ${pid}`
  return [head, '', ...formatProcessTable(processes)]
}

async function runTop(client: DaemonClient, terminal: Terminal, seconds: number): Promise<void> {
  const quit = new AbortController()
  const signal = AbortSignal.any([terminal.signal, quit.signal])
  const keys = quitOnKey(terminal, quit)
  terminal.out.write(ALTERNATE_SCREEN)
  try {
    while (!signal.aborted) {
      const { status, processes } = await fetchSnapshot(client, signal)
      drawFrame(terminal.out, formatFrame(status, processes))
      await waitForRedraw(seconds, terminal.out, signal)
    }
  } catch (error) {
    if (!quit.signal.aborted) throw error
  } finally {
    keys[Symbol.dispose]()
    terminal.out.write(MAIN_SCREEN)
  }
}

/** Draws the lines that fit over the last frame. */
function drawFrame(out: Writable, lines: readonly string[]): void {
  const { columns, rows } = getTerminalSize(out)
  const screen = lines.slice(0, rows - 1).map((line) => `${line.slice(0, columns)}${CLEAR_LINE}\r\n`)
  out.write(`${CURSOR_HOME}${screen.join('')}${CLEAR_BELOW}`)
}

function getTerminalSize(out: Writable): { readonly columns: number; readonly rows: number } {
  const columns = ('columns' in out && Number(out.columns)) || DEFAULT_COLUMNS
  const rows = ('rows' in out && Number(out.rows)) || DEFAULT_ROWS
  return { columns, rows }
}

/** Waits for the interval or a resize. Rejects when the signal is aborted. */
async function waitForRedraw(seconds: number, out: Writable, signal: AbortSignal): Promise<void> {
  const resized = new AbortController()
  const end = () => resized.abort()
  out.on('resize', end)
  try {
    await delay(seconds * SECOND_MS, null, { signal: AbortSignal.any([signal, resized.signal]) })
  } catch (error) {
    if (signal.aborted) throw error
  } finally {
    out.off('resize', end)
  }
}

/** Aborts on a quit key, in raw mode, until disposed. */
function quitOnKey({ in: input }: Terminal, quit: AbortController): Disposable {
  const setRaw = (on: boolean) => {
    if ('setRawMode' in input && typeof input.setRawMode === 'function') input.setRawMode(on)
  }
  const onData = (chunk: Buffer | string) => {
    // One chunk may hold several keys.
    if (QUIT_KEYS.some((key) => String(chunk).includes(key))) quit.abort()
  }
  setRaw(true)
  input.on('data', onData)
  return {
    [Symbol.dispose]() {
      input.off('data', onData)
      setRaw(false)
      input.pause()
    },
  }
}
