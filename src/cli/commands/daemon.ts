import type { DaemonClient, DaemonStatus } from '../../server/daemon/client/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { Call } from '../call.ts'
import { type Command, command, type Family } from '../command.ts'
import { daemonOptions, makeHome, runningDaemon } from '../daemon-access.ts'
import { namingStore } from '../damaged-store.ts'
import { homePath, isNoHome } from '../home-access.ts'
import { launchDaemon, logOf, READY, TAKEN } from '../launch-daemon.ts'
import { durationText } from '../process-text.ts'
import { counted, timeText } from '../wording.ts'

const DEFAULT_IDLE_S = 300
const SECOND_MS = 1000

const stay = { summary: 'Stay, also with nothing to do' }

const start: Command = command(
  {
    name: 'daemon start',
    summary: 'Start the daemon of a home, if none runs',
    details: `Commands that need the daemon start it themselves; it stops after five minutes with nothing to do.
Keys of model providers are those of the environment it is started in.`,
    scope: 'home',
    options: { stay },
    examples: ['coppice daemon start', 'coppice daemon start --stay'],
  },
  async (call) => {
    const home = homePath(call)
    const connect = () => runningDaemon(home)
    await makeHome(home)
    await using client = (await connect()) ?? (await launchDaemon(home, connect, { stays: call.has('stay') }))
    const status = await client.call('status', {}, call.terminal.signal)
    await call.output.value(status, statusText(status))
  },
)

const stop: Command = command(
  {
    name: 'daemon stop',
    summary: 'Stop the daemon, and with it the processes that run',
    scope: 'home',
    examples: ['coppice daemon stop'],
  },
  async (call) => {
    const client = await daemonIfAny(call)
    if (client === undefined) {
      await call.output.value({ stopped: false }, 'no daemon runs')
      return
    }
    await using _ = client
    const { processes } = await client.call('status', {}, call.terminal.signal)
    await client.call('stop', {}, call.terminal.signal)
    await client.closed
    await call.output.value({ stopped: true, processes }, 'stopped')
  },
)

const status: Command = command(
  {
    name: 'daemon status',
    summary: 'Tell whether the daemon runs, and what it has to do',
    scope: 'home',
    examples: ['coppice daemon status', 'coppice daemon status --json'],
  },
  async (call) => {
    const client = await daemonIfAny(call)
    if (client === undefined) {
      await call.output.value({ running: false }, 'no daemon runs; commands that need one start it')
      return
    }
    await using _ = client
    const told = await client.call('status', {}, call.terminal.signal)
    await call.output.value({ running: true, ...told }, statusText(told))
  },
)

const run: Command = command(
  {
    name: 'daemon run',
    summary: 'Be the daemon, in the foreground, for who starts it by other means',
    scope: 'home',
    options: {
      stay,
      idle: {
        summary: `Stop after so many seconds with nothing to do (${DEFAULT_IDLE_S})`,
        value: 'seconds',
      },
    },
    examples: ['coppice daemon run --stay'],
  },
  async (call) => {
    const idleMs = call.has('stay') ? null : (call.count('idle') ?? DEFAULT_IDLE_S) * SECOND_MS
    const { startDaemon } = await import('../../server/daemon/index.ts')
    const home = homePath(call)
    const options = await daemonOptions(home, idleMs)
    const daemon = await namingStore(home, () => startDaemon(options)).catch((error) => {
      if (process.send !== undefined && isVfsError(error, 'EEXIST')) return tell(TAKEN)
      throw error
    })
    if (daemon === undefined) return
    tell(READY)
    const { signal } = call.terminal
    signal.addEventListener('abort', () => void daemon.stop().catch(() => {}), { once: true })
    if (signal.aborted) void daemon.stop().catch(() => {})
    await daemon.closed
  },
)

/** The daemon that runs. Where there is no home there is none, and nothing is made to look for it. */
async function daemonIfAny(call: Call): Promise<DaemonClient | undefined> {
  const home = homePath(call)
  return (await isNoHome(home)) ? undefined : runningDaemon(home)
}

/** To the program that started this one, if one waits for it. */
function tell(word: string): undefined {
  process.send?.(word)
  process.disconnect?.()
}

function statusText({ pid, home, started_at, processes, cron_jobs, idle_ms }: DaemonStatus): string {
  const stays = idle_ms === null ? 'stays' : `stops after ${durationText(idle_ms)} with nothing to do`
  return [
    `the daemon of ${home} runs as ${pid} since ${timeText(new Date(started_at))}, and ${stays}`,
    `it has ${counted(processes, 'process', 'processes')} and ${counted(cron_jobs, 'cron job')}; its log is ${logOf(home)}`,
  ].join('\n')
}

export const daemon: Family = {
  name: 'daemon',
  summary: 'Start, stop and look at the daemon that runs processes',
  commands: [start, stop, status, run],
}
