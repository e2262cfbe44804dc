import { seal, unseal } from '../sealed.ts'

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
export interface Head {
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

const PREFIX = 'vault/'

export const vaultPrefix: string = PREFIX

export function vaultKey(name: string): string {
  return PREFIX + name
}

export function encodeHead(head: Head): Uint8Array {
  return seal(head)
}

export function decodeHead(bytes: Uint8Array): Head {
  return unseal(bytes, 'the head of a vault')
}

/** The row a vault's own journal begins behind. */
export function startOf({ lineage }: Head): number {
  return lineage[0]?.seq ?? 0
}
