import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePrivateDirectory, makePrivateFile, spawnWithoutInheritedFds } from '../../machine/index.ts'
import { CommandError } from '../framework/errors.ts'

const MAX_LOG_BYTES = 1024 * 1024

/** A `coppice mount` that goes on when this process ends. */
export interface BackgroundMount {
  /** The directory of the home, for its log. */
  readonly home: string
  /** The directory that the command runs in: a fork is found from its project. */
  readonly cwd: string
  /** The words after `coppice mount`. */
  readonly words: readonly string[]
}

/** Starts a mount, and returns once it is mounted. CommandError with its message if it fails. */
export async function startBackgroundMount({ home, cwd, words }: BackgroundMount): Promise<void> {
  const log = join(home, 'data', 'mounts.log')
  makePrivateDirectory(dirname(log))
  makePrivateFile(log)
  if (statSync(log).size > MAX_LOG_BYTES) truncateSync(log)
  const before = statSync(log).size
  const child = startMount({ cwd, words }, log)
  try {
    const isMounted = await waitForAnnouncement(child)
    if (isMounted) return
    const message = readFileSync(log).subarray(before).toString().trim()
    throw new CommandError(message.replace(/^coppice: /, '') || `the mount ended at once; see ${log}`)
  } finally {
    child.stdout?.destroy()
    child.unref()
  }
}

function startMount({ cwd, words }: Omit<BackgroundMount, 'home'>, log: string): ChildProcess {
  const file = openSync(log, 'a')
  try {
    const [program = ''] = process.argv.slice(1)
    const args = [...process.execArgv, program, 'mount', ...words]
    return spawnWithoutInheritedFds(process.execPath, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', file],
    })
  } finally {
    closeSync(file)
  }
}

/** Waits until the command prints that it is mounted. False if it ends before. */
async function waitForAnnouncement({ stdout }: ChildProcess): Promise<boolean> {
  if (stdout === null) return false
  const [line] = await Promise.race([once(stdout, 'data'), once(stdout, 'end')])
  return line !== undefined
}
