import { setTimeout as delay } from 'node:timers/promises'
import { createProcessTag } from '../../machine/index.ts'
import {
  type HeldItems,
  isAbandoned,
  isCollection,
  parseSessionEntry,
  type SessionEntry,
  toCollectionId,
} from './session-entry.ts'
import type { SessionRegistry, SessionRegistryEntry } from './session-registry.ts'
import { LEASE_MS } from './store-session.ts'

/** How long a session that is busy may take to answer, before a collection does without. */
const ANSWER_TIMEOUT_MS = 10_000
const POLL_INTERVAL_MS = 5

/** What others than one session hold. */
export interface OtherSessionHolds extends HeldItems {
  /** The sessions that are there. */
  readonly ids: ReadonlySet<string>
}

export interface SessionQueryOptions {
  /** The session that asks, and knows what it holds itself. */
  readonly own: string
  readonly timeoutMs?: number | undefined
}

/**
 * Asks every session of a home what it holds. Whatever a session had begun to read before this was called, and still
 * reads, is in the answer. A session that is over, or does not answer in time, is taken from the board: it then fails
 * if it reads on, and commits nothing that refers to what it had only uploaded.
 */
export async function querySessions(
  board: SessionRegistry,
  options: SessionQueryOptions,
): Promise<OtherSessionHolds> {
  const { own, timeoutMs = ANSWER_TIMEOUT_MS } = options
  const id = toCollectionId(createProcessTag())
  const begun = performance.now()
  await board.publish(id, '')
  try {
    for (;;) {
      const entries = await board.listEntries()
      const now = entries.find((entry) => entry.id === id)?.time ?? Date.now()
      const others = entries.filter((entry) => entry.id !== id && entry.id !== own)
      const abandoned = others.filter((entry) => isAbandoned(entry, now, LEASE_MS))
      await removeAll(board, abandoned)
      const sessions = others.filter((entry) => !abandoned.includes(entry) && !isCollection(entry.id))
      const silent = sessions.filter((entry) => !hasAnswered(parseSessionEntry(entry), id))
      const isOver = performance.now() - begun > timeoutMs
      if (isOver) await removeAll(board, silent)
      if (silent.length === 0 || isOver)
        return combineHolds(sessions.filter((entry) => !silent.includes(entry)))
      await delay(POLL_INTERVAL_MS)
    }
  } finally {
    await board.remove(id)
  }
}

function hasAnswered(entry: SessionEntry | undefined, collection: string): boolean {
  return entry !== undefined && (!entry.isBusy || entry.answered.includes(collection))
}

async function removeAll(board: SessionRegistry, entries: readonly SessionRegistryEntry[]): Promise<void> {
  for (const { id } of entries) await board.remove(id)
}

function combineHolds(entries: readonly SessionRegistryEntry[]): OtherSessionHolds {
  const sessions = entries.flatMap((entry) => parseSessionEntry(entry) ?? [])
  return {
    ids: new Set(entries.map(({ id }) => id)),
    roots: sessions.flatMap(({ roots }) => roots),
    blobs: sessions.flatMap(({ blobs }) => blobs),
    uploads: sessions.reduce((sum, { uploads }) => sum + uploads, 0),
  }
}
