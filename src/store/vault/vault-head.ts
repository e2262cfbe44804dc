import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'

/** A vault that another grew from, as it was then. */
export interface Ancestor {
  readonly vault: string
  readonly id: number
  readonly root: number
  /** The journal row its tree included: rows up to here are history of the fork as well. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly time: number
}

/** A vault as it is recorded: its stored tree, and the journal row that tree includes. */
export interface VaultHead {
  readonly id: number
  readonly root: number
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly created: number
  /** How many checkpoints were ever taken of it; absent while there was none. */
  readonly checkpoints?: number
  /** What it grew from, what that grew from, and so on. A fork counts its rows on from where it began. */
  readonly lineage: readonly Ancestor[]
}

const VAULT_KEY_PREFIX = 'vault/'

export const vaultPrefix: string = VAULT_KEY_PREFIX

export function vaultKey(name: string): string {
  return VAULT_KEY_PREFIX + name
}

export function encodeHead(head: VaultHead): Uint8Array {
  return encodeChecksummedJson(head)
}

export function decodeHead(bytes: Uint8Array): VaultHead {
  return decodeChecksummedJson(bytes, 'the head of a vault')
}

/** The row a vault's own journal begins behind. */
export function getJournalStart({ lineage }: VaultHead): number {
  return lineage[0]?.seq ?? 0
}
