import { appendFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import type { AgentEvent, AgentName } from './agent-event.ts'
import { AgentSessions, type SavedSessions } from './agent-sessions.ts'
import { hashPath } from './hash-path.ts'
import { StatIndex } from './stat-index.ts'

/** A line of the log beside the records: a prompt, or a hook that failed. */
export type TimelineNote =
  | {
      readonly kind: 'prompt'
      readonly time: number
      readonly prompt: number
      readonly agent: AgentName
      readonly session: string
      readonly text: string
    }
  | { readonly kind: 'failure'; readonly time: number; readonly agent: AgentName; readonly message: string }

/** State that survives between events. */
export interface TimelineState {
  readonly sessions: AgentSessions
  /** The stage of an undo or redo that writes the directory, or was killed while it did. */
  readonly stage?: string | undefined
  /** The last scan, if the directory was watched. */
  readonly watched?: WatchedScan | undefined
}

/** A scan of a watched directory. */
export interface WatchedScan {
  /** Identifies the state of the directory before the scan. See `WatchAnswer`. */
  readonly mark: string
  /** In milliseconds since the epoch. */
  readonly time: number
}

/**
 * The files of a timeline beside its vault, in `timelines/` of the home. A hook that finds no change needs only these,
 * and does not open the store.
 */
export class TimelineFiles {
  /** The name of its vault. */
  readonly vault: string
  readonly #folder: string

  constructor(home: string, directory: string) {
    const hash = hashPath(directory)
    this.vault = `timeline-${hash}`
    this.#folder = join(home, 'timelines', hash)
  }

  /** True if the directory was recorded, or recording it failed. */
  get exists(): boolean {
    return existsSync(this.#folder)
  }

  /** The size of the index; 0 if there is none. */
  get indexBytes(): number {
    return statSync(join(this.#folder, 'index'), { throwIfNoEntry: false })?.size ?? 0
  }

  readIndex(settings: string): StatIndex {
    return StatIndex.read(join(this.#folder, 'index'), settings)
  }

  writeIndex(index: StatIndex): void {
    this.#replace('index', index.toBytes())
  }

  readState(): TimelineState {
    const text = this.#read('state.json')
    if (text === undefined) return { sessions: new AgentSessions() }
    const saved: SavedState = JSON.parse(text)
    return { ...saved, sessions: new AgentSessions(saved.sessions) }
  }

  writeState(state: TimelineState): void {
    this.#replace('state.json', JSON.stringify(state))
  }

  /** Saves the state after an event, and notes a prompt. */
  finishEvent(
    { agent, session, prompt: text }: AgentEvent,
    { sessions, watched }: Pick<TimelineState, 'sessions' | 'watched'>,
  ): void {
    const prompt = sessions.getPrompt(session)
    if (text !== undefined && prompt !== undefined)
      this.addNote({ kind: 'prompt', time: Date.now(), prompt, agent, session, text })
    this.writeState({ sessions, watched })
  }

  addNote(note: TimelineNote): void {
    makePrivateDirectory(this.#folder)
    const file = join(this.#folder, 'notes.jsonl')
    makePrivateFile(file)
    appendFileSync(file, `${JSON.stringify(note)}\n`)
  }

  /** Lists all notes, the oldest first. A line that was cut off is left out. */
  listNotes(): TimelineNote[] {
    return (this.#read('notes.jsonl') ?? '').split('\n').flatMap((line) => {
      try {
        const note: TimelineNote = JSON.parse(line)
        return [note]
      } catch {
        return []
      }
    })
  }

  /** Removes the notes that are older than a time, in milliseconds since the epoch. */
  removeNotes(before: number): void {
    const kept = this.listNotes().filter(({ time }) => time >= before)
    this.#replace('notes.jsonl', kept.map((note) => `${JSON.stringify(note)}\n`).join(''))
  }

  #read(name: string): string | undefined {
    try {
      return readFileSync(join(this.#folder, name), 'utf8')
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Replaces a file in one step. Callers hold the lock, so a fixed temporary name is free. */
  #replace(name: string, content: string | Uint8Array): void {
    makePrivateDirectory(this.#folder)
    const file = join(this.#folder, name)
    makePrivateFile(`${file}.new`)
    writeFileSync(`${file}.new`, content)
    renameSync(`${file}.new`, file)
  }
}

interface SavedState extends Omit<TimelineState, 'sessions'> {
  readonly sessions: SavedSessions
}
