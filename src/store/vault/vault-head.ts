import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'

/** An ancestor of a vault, as it was at the fork. */
export interface Ancestor {
  readonly vault: string
  readonly id: number
  readonly root: number
  /** Last journal row of its tree: rows up to here belong to the fork's history as well. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly time: number
}

/** The record of a vault: its stored tree, and the last journal row that tree includes. */
export interface VaultHead {
  readonly id: number
  readonly root: number
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly created: number
  /** Number of checkpoints ever taken; absent before the first. */
  readonly checkpoints?: number
  /** Last row of the newest landmark; absent before the first. */
  readonly landmark?: number
  /** Ancestors, the nearest first. A fork continues the row numbers of its ancestor. */
  readonly lineage: readonly Ancestor[]
}

const VAULT_KEY_PREFIX = 'vault/'

export const vaultPrefix: string = VAULT_KEY_PREFIX

export function vaultKey(name: string): string {
  return VAULT_KEY_PREFIX + name
}

/** Returns the name of the vault that has this key. */
export function getVaultName(key: string): string {
  return key.slice(VAULT_KEY_PREFIX.length)
}

export function encodeHead(head: VaultHead): Uint8Array {
  return encodeChecksummedJson(head)
}

export function decodeHead(bytes: Uint8Array): VaultHead {
  return decodeChecksummedJson(bytes, 'the head of a vault')
}

/** Returns the last row before a vault's own journal. */
export function getJournalStart({ lineage }: VaultHead): number {
  return lineage[0]?.seq ?? 0
}
