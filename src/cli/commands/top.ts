import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient, DaemonStatus } from '../../server/daemon/client/index.ts'
import { type Command, command } from '../command.ts'
import { withDaemon } from '../daemon-access.ts'
import { type ProcessStatus, processTable } from '../process-text.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { counted } from '../wording.ts'

const SECOND_MS = 1000
const USUAL_SECONDS = 1
/** More often would be work for the daemon and nothing to see. */
const LEAST_SECONDS = 0.05
/** The last ones that ended are shown below those that run. */
const ENDED = 10
/** Where a terminal does not tell its size. */
const USUAL_COLUMNS = 80
const USUAL_ROWS = 24
/** Ctrl-C comes as a key, too, while keys are heard as they are typed. */
const LEAVING_KEYS = ['q', 'Q', '\u0003']
const ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l'
const ORDINARY_SCREEN = '\u001b[?25h\u001b[?1049l'
const FROM_THE_TOP = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

export const top: Command = command(
  {
    name: 'top',
    summary: 'Watch the processes at work',
    details:
      'Redrawn every second; q leaves. Where the output is no terminal, and with --once, it is shown once.',
    scope: 'home',
    options: {
      once: { summary: 'Show it once' },
      every: { summary: 'So long from one look to the next; 1 if not given', value: 'seconds' },
    },
    examples: ['coppice top', 'coppice top --every 5', 'coppice top --once', 'coppice top --json'],
  },
  (call) => {
    const every = secondsOf(call.text('every'))
    return withDaemon(call, async (client) => {
      const { output, terminal } = call
      if (call.isJson || call.has('once') || !terminal.isInteractive) {
        const { status, processes } = await look(client, terminal.signal)
        await output.value({ status, processes }, frame(status, processes).join('\n'))
      } else await watch(client, terminal, every)
    })
  },
)

function secondsOf(text = String(USUAL_SECONDS)): number {
  const seconds = Number(text)
  if (seconds >= LEAST_SECONDS) return seconds
  throw new UsageError(`--every is a number of seconds, ${LEAST_SECONDS} or more, not '${text}'`)
}

interface Look {
  readonly status: DaemonStatus
  readonly processes: readonly ProcessStatus[]
}

async function look(client: DaemonClient, signal: AbortSignal): Promise<Look> {
  const status = await client.call('status', {}, signal)
  const all = await client.call('ps', { all: true }, signal)
  const isAtWork = ({ state }: ProcessStatus) => state === 'running' || state === 'paused'
  const ended = all.filter((process) => !isAtWork(process)).slice(-ENDED)
  return { status, processes: [...all.filter(isAtWork), ...ended.toReversed()] }
}

function frame(
  { processes: running, cron_jobs, clients, pid }: DaemonStatus,
  processes: readonly ProcessStatus[],
): string[] {
  const tokens = processes.reduce((sum, { tokens_used }) => sum + tokens_used, 0)
  const numbers = [
    `${running} running`,
    counted(cron_jobs, 'cron job'),
    counted(clients, 'client'),
    counted(tokens, 'token'),
  ]
  const head = `coppice: ${numbers.join(', ')}; daemon ${pid}`
  return [head, '', ...processTable(processes)]
}

async function watch(client: DaemonClient, terminal: Terminal, seconds: number): Promise<void> {
  const left = new AbortController()
  const signal = AbortSignal.any([terminal.signal, left.signal])
  const keys = leaveByKey(terminal, left)
  terminal.out.write(ALTERNATE_SCREEN)
  try {
    while (!signal.aborted) {
      const { status, processes } = await look(client, signal)
      draw(terminal.out, frame(status, processes))
      await pause(seconds, terminal.out, signal)
    }
  } catch (error) {
    if (!left.signal.aborted) throw error
  } finally {
    keys[Symbol.dispose]()
    terminal.out.write(ORDINARY_SCREEN)
  }
}

/** As much as fits, over what was there. */
function draw(out: Writable, lines: readonly string[]): void {
  const { columns, rows } = sizeOf(out)
  const shown = lines.slice(0, rows - 1).map((line) => `${line.slice(0, columns)}${CLEAR_LINE}\r\n`)
  out.write(`${FROM_THE_TOP}${shown.join('')}${CLEAR_BELOW}`)
}

function sizeOf(out: Writable): { readonly columns: number; readonly rows: number } {
  const columns = ('columns' in out && Number(out.columns)) || USUAL_COLUMNS
  const rows = ('rows' in out && Number(out.rows)) || USUAL_ROWS
  return { columns, rows }
}

/** Until it is time to look again, or the terminal has another size. Rejects when the signal is aborted. */
async function pause(seconds: number, out: Writable, signal: AbortSignal): Promise<void> {
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

/** Keys as they are typed, until it is disposed. */
function leaveByKey({ in: input }: Terminal, left: AbortController): Disposable {
  const setRaw = (on: boolean) => {
    if ('setRawMode' in input && typeof input.setRawMode === 'function') input.setRawMode(on)
  }
  const hear = (chunk: Buffer | string) => {
    // Several keys may come at once.
    if (LEAVING_KEYS.some((key) => String(chunk).includes(key))) left.abort()
  }
  setRaw(true)
  input.on('data', hear)
  return {
    [Symbol.dispose]() {
      input.off('data', hear)
      setRaw(false)
      input.pause()
    },
  }
}
