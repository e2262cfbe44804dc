import { existsSync, rmSync } from 'node:fs'
import { isErrno, readFileIfPresent } from '../../machine/index.ts'
import { isFileLocked } from '../../workspace/link/index.ts'
import type { WatchAnswer, WatchQuestion } from '../events/index.ts'
import { writeExchangeFile } from './exchange-file.ts'
import {
  getExchangeFiles,
  getRequestDirectory,
  getWatcherLock,
  WATCHER_VERSION,
  type WatcherRequest,
  type WatcherStatus,
} from './watcher-protocol.ts'

/** Time between two looks for a response. */
const POLL_MS = 0.3
/** Looks for an answer, for some 100 ms. A hook that waits longer compares the directory itself. */
const ANSWER_POLLS = 300
/** Looks of a person's command. */
const COMMAND_POLLS = 10_000

/**
 * Asks the watcher of a home about a directory; undefined if it does not answer in time, or has another version. Returns
 * 'absent' if none runs.
 */
export function askWatcher(home: string, question: WatchQuestion): WatchAnswer | 'absent' | undefined {
  const request = { v: WATCHER_VERSION, method: 'ask', question } as const
  const text = exchange(home, request, ANSWER_POLLS)
  if (text === undefined) return isWatcherRunning(home) ? undefined : 'absent'
  const answer: WatchAnswer = JSON.parse(text)
  return answer
}

/** Returns the status of the watcher of a home; undefined if none runs. */
export function getWatcherStatus(home: string): WatcherStatus | undefined {
  if (!isWatcherRunning(home)) return undefined
  const text = exchange(home, { v: WATCHER_VERSION, method: 'status' }, COMMAND_POLLS)
  if (text === undefined) return undefined
  const status: WatcherStatus = JSON.parse(text)
  return status
}

/** Stops the watcher of a home, and waits for it; false if none ran. */
export function stopWatcher(home: string): boolean {
  if (!isWatcherRunning(home)) return false
  exchange(home, { v: WATCHER_VERSION, method: 'stop' }, COMMAND_POLLS)
  return waitFor(() => !isWatcherRunning(home), COMMAND_POLLS)
}

/** Sends a request and returns the text of the response; undefined if there is none, also where the watcher ends. */
function exchange(home: string, request: WatcherRequest, polls: number): string | undefined {
  const directory = getRequestDirectory(home)
  if (!existsSync(directory)) return undefined
  // Processes of different containers may have the same number.
  const files = getExchangeFiles(directory, `${process.pid}-${Math.random().toString(36).slice(2)}`)
  try {
    writeExchangeFile(files.request, request)
    waitFor(() => existsSync(files.response) || !existsSync(directory), polls)
    return readFileIfPresent(files.response)
  } catch (error) {
    // The watcher has ended since, and removed its directory.
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  } finally {
    for (const path of Object.values(files)) rmSync(path, { force: true })
  }
}

/** Waits without a turn of the event loop, which a hook would have to set up. */
function waitFor(isDone: () => boolean, polls: number): boolean {
  const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  for (let poll = 0; poll < polls; poll++) {
    if (isDone()) return true
    Atomics.wait(nobody, 0, 0, POLL_MS)
  }
  return false
}

function isWatcherRunning(home: string): boolean {
  return existsSync(getRequestDirectory(home)) && isFileLocked(getWatcherLock(home))
}
