import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { hasExited, parseProcessTag } from '../../../machine/index.ts'
import {
  commitOnce,
  createLeasedError,
  decodeLease,
  encodeLease,
  isRecordStored,
  LEASE_MS,
  type LeaseRecord,
  leaseKey,
  type StoreHome,
  type VaultLog,
} from '../../../store/index.ts'
import type { LeaseOptions } from '../lease.ts'

/** A lease that this process holds. */
export interface HeldLease {
  readonly record: LeaseRecord
  readonly bytes: Uint8Array
}

interface AcquireOptions {
  readonly by?: LeaseOptions
  /** Id of a lease of this machine, whose process has ended. */
  readonly continued?: string
}

/**
 * Takes the lease of a vault, also one whose holder is silent for longer than a lease. EUNAVAILABLE, with the name of the
 * holder, if another one has it.
 */
export async function acquireLease(
  store: StoreHome,
  vault: string,
  log: VaultLog,
  { by = {}, continued }: AcquireOptions = {},
): Promise<HeldLease> {
  // The taker's own entry has the time of the database, by which the entries of others are judged.
  await store.session.beginRead()
  const id = continued ?? randomBytes(8).toString('hex')
  const record = { id, holder: getHolderName(), session: store.session.id, since: Date.now() }
  const bytes = encodeLease(record)
  const key = leaseKey(log.head.id)
  for (;;) {
    const current = await store.reader.run(() => store.reader.readRecord(key))
    const holder = current && decodeLease(current)
    if (holder !== undefined && holder.id !== continued && !(await isOver(store, holder)))
      throw createLeasedError(holder, vault)
    // A row of the journal: a writer that has not seen the lease cannot take its number, and looks again.
    const submitted = log.submit(
      () => ({ op: 'batch', path: '/', operations: [] }),
      by,
      () => {
        const found = store.reader.readRecord(key)
        if (!isSame(found, current)) throw new LeaseChanged()
        return { expect: [{ key, bytes: current ?? null }], records: [{ key, bytes }] }
      },
    )
    try {
      await submitted
      log.setLease(bytes)
      return { record, bytes }
    } catch (error) {
      // Another machine took it, or gave it back, at the same time.
      if (!(error instanceof LeaseChanged)) throw error
    }
  }
}

/** Gives a lease back. Does nothing if another machine has taken it. */
export async function releaseLease(store: StoreHome, log: VaultLog, { bytes }: HeldLease): Promise<void> {
  const key = leaseKey(log.head.id)
  const deletion = { key, bytes: null }
  const batch = { expect: [{ key, bytes }], records: [deletion] }
  await commitOnce(store.reader, batch, () => isRecordStored(store.reader, deletion))
  log.setLease(null)
}

/** Reports whether a lease is the recorded one. */
export async function isHeld(store: StoreHome, log: VaultLog, { record }: HeldLease): Promise<boolean> {
  const found = await store.reader.run(() => store.reader.readRecord(leaseKey(log.head.id)))
  return found !== undefined && decodeLease(found).id === record.id
}

class LeaseChanged extends Error {}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0
}

/** Reports whether the session of a holder is over, by the time of the database. */
async function isOver(store: StoreHome, { session }: LeaseRecord): Promise<boolean> {
  const process = parseProcessTag(session)
  if (process !== undefined && hasExited(process) === true) return true
  const entries = (await store.engine.sessionRegistry?.listEntries()) ?? []
  const entry = entries.find(({ id }) => id === session)
  const now = Math.max(...entries.map(({ time }) => time))
  return entry === undefined || now - entry.time > LEASE_MS
}

/** Returns the name of this user and machine, for messages to others. */
function getHolderName(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // The user has no account entry, as in some containers.
    return hostname()
  }
}
