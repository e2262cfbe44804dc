import type { DaemonClient, DaemonStatus } from '../../../daemon/client/index.ts'
import { escapeName } from '../../../text/index.ts'
import {
  findStartProblem,
  getWatcherStatus,
  stopWatcher,
  type WatcherStatus,
} from '../../../timeline/watch/index.ts'
import { isVfsError } from '../../../vfs/index.ts'
import {
  createDaemonOptions,
  createHomeDirectory,
  findRunningDaemon,
  openDaemon,
} from '../../access/daemon-access.ts'
import { withDamageReport } from '../../access/damaged-store.ts'
import { isHomeMissing, resolveHomePath } from '../../access/home-access.ts'
import { ALREADY_RUNNING, getLogPath, READY } from '../../access/launch-daemon.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatCount, formatTime } from '../../render/format-values.ts'
import { formatDuration } from '../../render/process-format.ts'

const DEFAULT_IDLE_S = 300
const SECOND_MS = 1000

const stayOption = { summary: 'Keep running when idle' }

const start: Command = defineCommand(
  {
    name: 'daemon start',
    summary: 'Start the daemon of a home, if none runs',
    details: `Commands start the daemon on demand; it stops after five idle minutes.
They replace one of another build or version, unless it has processes.
It reads the keys of model providers from the environment it starts in.`,
    scope: 'home',
    options: { stay: stayOption },
    examples: ['coppice daemon start', 'coppice daemon start --stay'],
  },
  async (call) => {
    const home = await resolveHomePath(call)
    await createHomeDirectory(home)
    await using client = await openDaemon(call, home, call.has('stay') ? { stays: true } : {})
    const status = await client.call('status', {}, call.terminal.signal)
    await call.output.writeValue(status, formatStatus(status))
  },
)

const stop: Command = defineCommand(
  {
    name: 'daemon stop',
    summary: 'Stop the daemon and its processes',
    details: 'Stops the watcher of hooks too. The next hook in a large directory starts another one.',
    scope: 'home',
    examples: ['coppice daemon stop', 'coppice daemon stop --json'],
  },
  async (call) => {
    const hasWatcher = stopWatcher(await resolveHomePath(call))
    const client = await findDaemon(call)
    if (client === undefined) {
      const text = hasWatcher ? 'stopped the watcher; no daemon runs' : 'no daemon runs'
      await call.output.writeValue({ stopped: false, ...(hasWatcher && { watcher: true }) }, text)
      return
    }
    await using _ = client
    const { processes } = await client.call('status', {}, call.terminal.signal)
    await client.call('stop', {}, call.terminal.signal)
    await client.closed
    await call.output.writeValue(
      { stopped: true, processes, ...(hasWatcher && { watcher: true }) },
      'stopped',
    )
  },
)

const status: Command = defineCommand(
  {
    name: 'daemon status',
    summary: 'Show whether the daemon runs, and its load',
    details: 'Also shows the watcher, which hooks ask whether a large directory changed. They start it.',
    scope: 'home',
    examples: ['coppice daemon status', 'coppice daemon status --json'],
  },
  async (call) => {
    const home = await resolveHomePath(call)
    const watcher = getWatcherStatus(home)
    const watcherLine = formatWatcher(watcher, findStartProblem(home))
    const client = await findDaemon(call)
    if (client === undefined) {
      const text = 'no daemon runs; commands that need one start it'
      await call.output.writeValue({ running: false, ...(watcher && { watcher }) }, `${text}${watcherLine}`)
      return
    }
    await using _ = client
    const current = await client.call('status', {}, call.terminal.signal)
    const text = `${formatStatus(current)}${watcherLine}`
    await call.output.writeValue({ running: true, ...current, ...(watcher && { watcher }) }, text)
  },
)

const run: Command = defineCommand(
  {
    name: 'daemon run',
    summary: 'Run the daemon in the foreground',
    scope: 'home',
    options: {
      stay: stayOption,
      idle: {
        summary: `Stop after this many idle seconds (${DEFAULT_IDLE_S})`,
        value: 'seconds',
      },
    },
    examples: ['coppice daemon run --stay', 'coppice daemon run --idle 60'],
  },
  async (call) => {
    const idleMs = call.has('stay')
      ? null
      : (call.countOption('idle', 'seconds') ?? DEFAULT_IDLE_S) * SECOND_MS
    const { startDaemon } = await import('../../../daemon/index.ts')
    const home = await resolveHomePath(call)
    const options = await createDaemonOptions(home, idleMs)
    const daemon = await withDamageReport(home, () => startDaemon(options)).catch((error) => {
      if (process.send !== undefined && isVfsError(error, 'EEXIST')) return notifyParent(ALREADY_RUNNING)
      throw error
    })
    if (daemon === undefined) return
    notifyParent(READY)
    const { signal } = call.terminal
    signal.addEventListener('abort', () => void daemon.stop().catch(() => {}), { once: true })
    if (signal.aborted) void daemon.stop().catch(() => {})
    await daemon.closed
  },
)

/** Connects to the running daemon; undefined if none runs. Creates no home. */
async function findDaemon(call: CommandInvocation): Promise<DaemonClient | undefined> {
  const home = await resolveHomePath(call)
  return isHomeMissing(home) ? undefined : findRunningDaemon(home)
}

/** Notifies the parent process, if it waits. */
function notifyParent(word: string): undefined {
  process.send?.(word)
  process.disconnect?.()
}

function formatStatus({ pid, home, started_at, processes, cron_jobs, idle_ms }: DaemonStatus): string {
  const stays = idle_ms === null ? 'stays' : `stops after ${formatDuration(idle_ms)} when idle`
  return [
    `the daemon of ${home} runs as ${pid} since ${formatTime(new Date(started_at))}, and ${stays}`,
    `it has ${formatCount(processes, 'process', 'processes')} and ${formatCount(cron_jobs, 'cron job')}; its log is ${getLogPath(home)}`,
  ].join('\n')
}

/** Returns a further line about the watcher; nothing if none runs or failed. */
function formatWatcher(watcher: WatcherStatus | undefined, problem: string | undefined): string {
  if (watcher === undefined)
    return problem === undefined ? '' : `\nthe watcher of hooks did not start: ${escapeName(problem)}`
  const { pid, directories, idle_ms } = watcher
  const watched = formatCount(directories.length, 'directory', 'directories')
  const stops = `stops after ${formatDuration(idle_ms)} without a hook`
  return `\nthe watcher of hooks runs as ${pid}, watches ${watched}, and ${stops}`
}

export const daemon: CommandGroup = {
  name: 'daemon',
  summary: 'Start, stop and inspect the daemon that runs processes',
  commands: [start, stop, status, run],
}
