import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  createProcessTag,
  makePrivateDirectory,
  makePrivateFile,
  spawnWithoutInheritedFds,
} from '../../machine/index.ts'
import { CommandError } from '../framework/errors.ts'

/** A `coppice mount` that goes on when this process ends. */
export interface BackgroundMount {
  /** The directory of the home, for messages. */
  readonly home: string
  /** The directory that the command runs in: a fork is found from its project. */
  readonly cwd: string
  /** The words after `coppice mount`. */
  readonly words: readonly string[]
}

/** Starts a mount, and returns once it is mounted. CommandError with its message if it fails. */
export async function startBackgroundMount({ home, cwd, words }: BackgroundMount): Promise<void> {
  // Not a pipe: the process goes on to write when nobody reads any more.
  const messages = join(home, 'data', `mount-${createProcessTag()}.log`)
  makePrivateDirectory(dirname(messages))
  makePrivateFile(messages)
  try {
    const child = startMount({ cwd, words }, messages)
    try {
      if (await waitForAnnouncement(child)) return
      const message = readFileSync(messages, 'utf8').trim()
      throw new CommandError(message.replace(/^coppice: /, '') || 'the process that mounts ended at once')
    } finally {
      child.stdout?.destroy()
      child.unref()
    }
  } finally {
    rmSync(messages, { force: true })
  }
}

function startMount({ cwd, words }: Omit<BackgroundMount, 'home'>, messages: string): ChildProcess {
  const file = openSync(messages, 'a')
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
async function waitForAnnouncement(child: ChildProcess): Promise<boolean> {
  const { stdout } = child
  if (stdout === null) return false
  const failed = once(child, 'error').then(([error]: Error[]) => {
    throw new CommandError(`the process that mounts cannot be started: ${error?.message}`)
  })
  const [line] = await Promise.race([once(stdout, 'data'), once(stdout, 'end'), failed])
  return line !== undefined
}
