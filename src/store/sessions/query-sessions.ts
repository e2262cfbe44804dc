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

/** Default time that a busy session has to answer before a collection proceeds without it. */
const ANSWER_TIMEOUT_MS = 10_000
const POLL_INTERVAL_MS = 5

/** Everything that other sessions hold. */
export interface OtherSessionHolds extends HeldItems {
  /** Ids of the live sessions. */
  readonly ids: ReadonlySet<string>
}

export interface SessionQueryOptions {
  /** Id of the querying session, which knows its own holds. */
  readonly own: string
  /** Time that busy sessions have to answer; 10 seconds when absent. */
  readonly timeoutMs?: number | undefined
}

/**
 * Queries every session of a home for what it holds. The result includes every read that began before this call and
 * continues. A session that has ended, or does not answer in time, loses its entry: its later reads fail, and it
 * cannot commit references to its uploads.
 */
export async function querySessions(
  registry: SessionRegistry,
  options: SessionQueryOptions,
): Promise<OtherSessionHolds> {
  const { own, timeoutMs = ANSWER_TIMEOUT_MS } = options
  const id = toCollectionId(createProcessTag())
  const startedAt = performance.now()
  await registry.publish(id, '')
  try {
    for (;;) {
      const entries = await registry.listEntries()
      const now = entries.find((entry) => entry.id === id)?.time ?? Date.now()
      const others = entries.filter((entry) => entry.id !== id && entry.id !== own)
      const abandoned = others.filter((entry) => isAbandoned(entry, now, LEASE_MS))
      await removeAll(registry, abandoned)
      const sessions = others.filter((entry) => !abandoned.includes(entry) && !isCollection(entry.id))
      const silent = sessions.filter((entry) => !hasAnswered(parseSessionEntry(entry), id))
      const isTimedOut = performance.now() - startedAt > timeoutMs
      if (isTimedOut) await removeAll(registry, silent)
      if (silent.length === 0 || isTimedOut)
        return combineHolds(sessions.filter((entry) => !silent.includes(entry)))
      await delay(POLL_INTERVAL_MS)
    }
  } finally {
    await registry.remove(id)
  }
}

function hasAnswered(entry: SessionEntry | undefined, collection: string): boolean {
  return entry !== undefined && (!entry.isBusy || entry.answered.includes(collection))
}

async function removeAll(registry: SessionRegistry, entries: readonly SessionRegistryEntry[]): Promise<void> {
  for (const { id } of entries) await registry.remove(id)
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
