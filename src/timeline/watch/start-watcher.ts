import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  makePrivateDirectory,
  makePrivateFile,
  readFileIfPresent,
  spawnWithoutInheritedFds,
} from '../../machine/index.ts'
import { getStartNote } from './watcher-protocol.ts'

/** Flag of Node that bounds new objects to 2 MB. The garbage of a large directory would stay in memory otherwise. */
const YOUNG_GENERATION_FLAG = '--max-semi-space-size=2'
/** Time until a start that failed is tried again. */
const RETRY_MS = 10 * 60_000

/**
 * Starts the watcher of a home as a detached process, and does not wait for it. Does nothing while another one starts, nor
 * for a while after a start that failed.
 */
export function startWatcher(home: string): void {
  if (!beginStart(home)) return
  const child = spawnWithoutInheritedFds(process.execPath, [YOUNG_GENERATION_FLAG, getProgramFile(), home], {
    cwd: home,
    detached: true,
    // Nothing of the agent's environment: it may have credentials, and the watcher outlives the agent.
    env: {},
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  // The note of the start stays, so that it is not tried again at once.
  child.on('error', () => {})
  child.unref()
}

/** Ends a start. One that failed has a reason; it is tried again later. */
export function endStart(home: string, problem?: string): void {
  if (problem === undefined) rmSync(getStartNote(home), { force: true })
  else writeFileSync(getStartNote(home), problem)
}

/** Returns the reason for which the last start failed; undefined if it did not. */
export function findStartProblem(home: string): string | undefined {
  return readFileIfPresent(getStartNote(home)) || undefined
}

/** Notes that a start begins; false if another one has begun or failed not long ago. */
function beginStart(home: string): boolean {
  const note = getStartNote(home)
  makePrivateDirectory(dirname(note))
  if (makePrivateFile(note)) return true
  const age = Date.now() - (statSync(note, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  if (age >= 0 && age < RETRY_MS) return false
  const now = Date.now() / 1000
  utimesSync(note, now, now)
  return true
}

/** The program is beside this file, as source or built. */
function getProgramFile(): string {
  const name = import.meta.url.endsWith('.ts') ? './watcher-process.ts' : './watcher-process.js'
  return fileURLToPath(new URL(name, import.meta.url))
}
