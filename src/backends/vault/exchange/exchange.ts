import { createHash, randomBytes } from 'node:crypto'
import type { Home } from '../home.ts'
import type { TransferProgress } from '../transfer/index.ts'
import type { Vault } from '../vault.ts'

/** A vault in two homes. */
export interface Exchanged {
  readonly home: Home
  readonly vault: string
  readonly other: Home
  /** Its name in the other home. */
  readonly otherVault: string
  /** The other home, always written in the same way: it identifies the exchange. */
  readonly location: string
}

/** Options of `pushVault` and `fetchVault`. */
export interface ExchangeOptions {
  readonly onProgress?: (progress: TransferProgress) => void
  readonly signal?: AbortSignal
}

const EXCHANGE_NAME = /^exchange-[0-9a-f]{16}$/

/** Returns the name of the fork that has the state both homes last had. Nobody works in it: its name is reserved. */
export function toTrackingName({ vault, otherVault, location }: Exchanged): string {
  const identity = JSON.stringify([vault, otherVault, location])
  return `shared-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`
}

/** Returns a checkpoint name for one exchange. Both homes have it afterwards, and no other exchange uses it. */
export function createExchangeName(): string {
  return `exchange-${randomBytes(8).toString('hex')}`
}

/** Opens a vault; undefined if the home has none of this name. */
export async function findVault(home: Home, name: string): Promise<Vault | undefined> {
  return (await home.vaults()).includes(name) ? home.vault(name) : undefined
}

/** Returns the newest checkpoint of an exchange that both vaults have. Such names are unique, so they identify it. */
export async function findCommonCheckpoint(one: Vault, other: Vault): Promise<string | undefined> {
  const theirs = new Set(await listExchangeNames(other))
  return (await listExchangeNames(one)).findLast((name) => theirs.has(name))
}

/** Reports whether a checkpoint was created for an exchange. */
export function isExchangeName(checkpoint: string): boolean {
  return EXCHANGE_NAME.test(checkpoint)
}

/** Lists the checkpoints of exchanges, the oldest first. */
export async function listExchangeNames(vault: Vault): Promise<string[]> {
  const names = (await vault.checkpoints()).map(({ name }) => name)
  return names.filter(isExchangeName)
}

/** Reports whether a vault changed since one of its checkpoints. */
export async function hasChangedSince(vault: Vault, checkpoint: string): Promise<boolean> {
  for await (const _ of vault.diff(checkpoint)) return true
  return false
}

/** Removes the checkpoint of an earlier exchange from vaults that have it; the newest is enough for the next. */
export async function forgetCheckpoint(name: string, vaults: readonly Vault[]): Promise<void> {
  for (const vault of vaults) {
    const hasCheckpoint = (await vault.checkpoints()).some((checkpoint) => checkpoint.name === name)
    if (hasCheckpoint) await vault.removeCheckpoint(name)
  }
}
