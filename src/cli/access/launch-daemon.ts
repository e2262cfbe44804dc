import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient } from '../../daemon/client/index.ts'
import { makePrivateDirectory, makePrivateFile, spawnWithoutInheritedFds } from '../../machine/index.ts'
import { CommandError } from '../framework/errors.ts'

/**
 * Flag of Node that bounds new objects to 8 MB, not 32. A daemon lives long and has little to do at a time; with more, V8
 * keeps 100 MB of garbage.
 */
const YOUNG_GENERATION_FLAG = '--max-semi-space-size=8'
const MAX_LOG_BYTES = 1024 * 1024
/** Limit for a daemon that another command is starting. */
const START_TIMEOUT_MS = 10_000
const RETRY_DELAY_MS = 20
/** Time without a connection after which another daemon is started. */
const RESTART_MS = 1000

export interface LaunchOptions {
  /** True if the daemon keeps running when idle. */
  readonly stays?: boolean
}

/**
 * Starts the daemon of a home as a detached process and connects to it. If several start at once, one keeps running
 * and all connect to it.
 */
export async function launchDaemon(
  home: string,
  connect: () => Promise<DaemonClient | undefined>,
  { stays = false }: LaunchOptions = {},
): Promise<DaemonClient> {
  const log = getLogPath(home)
  for (const end = Date.now() + START_TIMEOUT_MS; Date.now() < end; ) {
    await startDaemon(home, log, stays)
    // The one that runs already may be ending, without a socket: then another one must start.
    for (const retry = Date.now() + RESTART_MS; Date.now() < retry; await delay(RETRY_DELAY_MS)) {
      const client = await connect()
      if (client !== undefined) return client
    }
  }
  throw new CommandError(`the daemon does not answer; see ${log}`)
}

/** Starts a daemon and waits until it is ready, or has found another one. CommandError if it fails. */
async function startDaemon(home: string, log: string, stays: boolean): Promise<void> {
  const child = startDaemonProcess(home, log, stays)
  try {
    const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')])
    if (message !== READY && message !== ALREADY_RUNNING)
      throw new CommandError(`the daemon did not start: ${readLastLine(log)}`)
  } finally {
    if (child.connected) child.disconnect()
    child.unref()
  }
}

/** Message of a daemon that is ready, to its parent process. */
export const READY = 'ready'
/** Message of a daemon that found another one running. */
export const ALREADY_RUNNING = 'taken'

/** Returns the path of the daemon's log. */
export function getLogPath(home: string): string {
  return join(home, 'data', 'daemon.log')
}

function startDaemonProcess(home: string, log: string, stays: boolean): ChildProcess {
  makePrivateDirectory(dirname(log))
  makePrivateFile(log)
  const file = openSync(log, 'a')
  try {
    if (statSync(log).size > MAX_LOG_BYTES) truncateSync(log)
    const [program = ''] = process.argv.slice(1)
    const args = ['daemon', 'run', '--home', home, ...(stays ? ['--stay'] : [])]
    return spawnWithoutInheritedFds(
      process.execPath,
      [...process.execArgv, YOUNG_GENERATION_FLAG, program, ...args],
      {
        cwd: home,
        detached: true,
        stdio: ['ignore', file, file, 'ipc'],
      },
    )
  } finally {
    closeSync(file)
  }
}

function readLastLine(log: string): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').at(-1) || `see ${log}`
}
