import { WriteLock } from '../../workspace/link/index.ts'
import type { AgentEvent } from './agent-event.ts'
import { scanDirectory } from './scan-directory.ts'
import { TimelineFiles, type WatchedScan } from './timeline-files.ts'
import { toSettingsKey, UndoRules, type UndoSettings } from './undo-rules.ts'
import { canBeWatched, getDirectoryIdentity, type WatchAnswer, type WatchQuestion } from './watch-question.ts'

/**
 * So long a watch is believed. It does not report a change by another name of the file outside of the directory, nor
 * one through mapped memory.
 */
const MAX_TRUST_MS = 60_000
/** An index of some 3,000 files. A smaller one is compared sooner than a watcher answers. */
const MIN_WATCHED_INDEX_BYTES = 128 * 1024

/** A directory with a timeline. */
export interface RecordedDirectory {
  readonly home: string
  readonly directory: string
  readonly settings: UndoSettings
}

interface ReceptionOptions {
  /** The agent's process, by which a killed one is recognised. See `findAgentProcess`. */
  readonly process?: string | undefined
  /** Asks the watcher of the home; undefined if none answers. It is asked about large directories only. */
  readonly ask?: ((question: WatchQuestion) => WatchAnswer | undefined) | undefined
}

interface ReceivedEvent {
  readonly isSaved: boolean
  /** Identifies the state of the directory before it was scanned. Undefined if it is not watched. */
  readonly mark?: string | undefined
}

/**
 * Saves an event if nothing changed since the last one. Otherwise it saves nothing; also before the first record, and
 * after an undo that was killed. It reads no content and opens no store, because an agent waits for it. It changes the
 * working directory of the process.
 */
export async function receiveWithoutChange(
  recorded: RecordedDirectory,
  event: AgentEvent,
  { process, ask }: ReceptionOptions = {},
): Promise<ReceivedEvent> {
  const { home, directory } = recorded
  using _lock = await WriteLock.acquire(home, directory)
  const files = new TimelineFiles(home, directory)
  const { sessions, stage, watched } = files.readState()
  if (stage !== undefined) return { isSaved: false }
  const question = findQuestion(files, recorded, watched)
  const answer = question && ask?.(question)
  const mark = answer?.mark
  const isKnown = watched !== undefined && answer?.isUnchanged === true && isRecent(watched)
  if (!isKnown && !isUnchanged(files, recorded)) return { isSaved: false, mark }
  sessions.receive(event, process)
  const scan = mark === undefined ? undefined : { mark, time: Date.now() }
  files.finishEvent(event, { sessions, watched: isKnown ? watched : scan })
  return { isSaved: true, mark }
}

/** Returns the question to the watcher; undefined where it would not help. */
function findQuestion(
  files: TimelineFiles,
  { directory, settings }: RecordedDirectory,
  watched: WatchedScan | undefined,
): WatchQuestion | undefined {
  if (settings.watch === false || files.indexBytes < MIN_WATCHED_INDEX_BYTES) return undefined
  const identity = getDirectoryIdentity(directory)
  if (identity === undefined || !canBeWatched(directory)) return undefined
  return { directory, identity, settings, mark: watched?.mark }
}

function isRecent({ time }: WatchedScan): boolean {
  const age = Date.now() - time
  return age >= 0 && age < MAX_TRUST_MS
}

/** Compares a directory with its index. */
function isUnchanged(files: TimelineFiles, { home, directory, settings }: RecordedDirectory): boolean {
  const index = files.readIndex(toSettingsKey(settings))
  if (index.takenAt === 0) return false
  const rules = new UndoRules(directory, settings, [home])
  return scanDirectory(directory, index, rules, { canChangeDirectory: true }).touched.length === 0
}
