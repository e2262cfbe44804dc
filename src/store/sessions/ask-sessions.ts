import { setTimeout as delay } from 'node:timers/promises'
import { ownMark } from '../../machine/index.ts'
import { LEASE_MS } from './session.ts'
import type { BoardEntry, SessionBoard } from './session-board.ts'
import {
  collectionId,
  type HeldItems,
  isAbandoned,
  isCollection,
  parseSessionEntry,
  type SessionEntry,
} from './session-entry.ts'

/** How long a session that is busy may take to answer, before a collection does without. */
const PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 5

/** What others than one session hold. */
export interface OtherSessions extends HeldItems {
  /** The sessions that are there. */
  readonly ids: ReadonlySet<string>
}

export interface AskOptions {
  /** The session that asks, and knows what it holds itself. */
  readonly own: string
  readonly patienceMs?: number | undefined
}

/**
 * Asks every session of a home what it holds. Whatever a session had begun to read before this was called, and still
 * reads, is in the answer. A session that is over, or does not answer in time, is taken from the board: it then fails
 * if it reads on, and commits nothing that refers to what it had only uploaded.
 */
export async function askSessions(board: SessionBoard, options: AskOptions): Promise<OtherSessions> {
  const { own, patienceMs = PATIENCE_MS } = options
  const id = collectionId(ownMark())
  const begun = performance.now()
  await board.post(id, '')
  try {
    for (;;) {
      const entries = await board.list()
      const now = entries.find((entry) => entry.id === id)?.time ?? Date.now()
      const others = entries.filter((entry) => entry.id !== id && entry.id !== own)
      const abandoned = others.filter((entry) => isAbandoned(entry, now, LEASE_MS))
      await withdrawAll(board, abandoned)
      const sessions = others.filter((entry) => !abandoned.includes(entry) && !isCollection(entry.id))
      const silent = sessions.filter((entry) => !hasAnswered(parseSessionEntry(entry), id))
      const isOver = performance.now() - begun > patienceMs
      if (isOver) await withdrawAll(board, silent)
      if (silent.length === 0 || isOver) return joined(sessions.filter((entry) => !silent.includes(entry)))
      await delay(LOOK_AGAIN_MS)
    }
  } finally {
    await board.withdraw(id)
  }
}

function hasAnswered(entry: SessionEntry | undefined, collection: string): boolean {
  return entry !== undefined && (!entry.isBusy || entry.answered.includes(collection))
}

async function withdrawAll(board: SessionBoard, entries: readonly BoardEntry[]): Promise<void> {
  for (const { id } of entries) await board.withdraw(id)
}

function joined(entries: readonly BoardEntry[]): OtherSessions {
  const sessions = entries.flatMap((entry) => parseSessionEntry(entry) ?? [])
  return {
    ids: new Set(entries.map(({ id }) => id)),
    roots: sessions.flatMap(({ roots }) => roots),
    blobs: sessions.flatMap(({ blobs }) => blobs),
    uploads: sessions.reduce((sum, { uploads }) => sum + uploads, 0),
  }
}
