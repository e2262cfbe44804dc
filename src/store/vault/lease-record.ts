import { VfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'

/** The lease of a vault: while it is recorded, only commits that expect it change the vault. */
export interface LeaseRecord {
  /** Differs for each lease. */
  readonly id: string
  /** Name of the holder in messages, such as `ann@laptop`. */
  readonly holder: string
  /** Session of the holder. The lease is over when that is. */
  readonly session: string
  /** Time when it was taken, in milliseconds since the epoch. */
  readonly since: number
}

/** Returns the key of the record that a leased vault has. */
export function leaseKey(vault: number): string {
  return `lease/${vault}`
}

export function encodeLease(lease: LeaseRecord): Uint8Array {
  return encodeChecksummedJson(lease)
}

export function decodeLease(bytes: Uint8Array): LeaseRecord {
  return decodeChecksummedJson(bytes, 'the lease of a vault')
}

/** Creates EUNAVAILABLE for a change of a vault that another machine has leased. */
export function createLeasedError({ holder, since }: LeaseRecord, vault: string): VfsError {
  const time = new Date(since).toISOString()
  const next = 'wait until it is given back, work in a fork of it, or mount it here if that machine is gone'
  const detail = `'${vault}' is leased by ${holder} since ${time}, so nobody else can change it; ${next}`
  return new VfsError('EUNAVAILABLE', vault, { op: 'commit', detail })
}
