import type { Resolution } from '../../backends/vault/index.ts'

/** A merge that waits until its conflicts are resolved. Nothing of it is written before that. */
export interface PendingMerge {
  /** `vault`: a vault into another. `fork`: a fork of a directory into another. `apply`: forks into their directory. */
  readonly kind: 'vault' | 'fork' | 'apply'
  /** The vaults or forks that are merged, in this order. */
  readonly sources: readonly string[]
  /** The vault or fork that changes; for an apply, the directory. */
  readonly target: string
  /** The directory of the forks; absent for vaults. */
  readonly directory?: string | undefined
  /** Paths to apply; all when absent. */
  readonly paths?: readonly string[] | undefined
  readonly keepSetuid?: boolean | undefined
  /** The resolved conflicts, by path. */
  readonly resolutions: ReadonlyMap<string, Resolution>
  /** True once it was performed. An undo makes it wait again, with its choices. */
  readonly isDone?: boolean | undefined
}

type StoredResolution = Extract<Resolution, string> | { readonly base64: string; readonly sides?: string }

interface StoredMerge extends Omit<PendingMerge, 'resolutions'> {
  readonly resolutions: readonly (readonly [string, StoredResolution])[]
}

export function encodePendingMerge({ resolutions, ...merge }: PendingMerge): string {
  const stored: StoredMerge = {
    ...merge,
    resolutions: Array.from(resolutions, ([path, resolution]) => [path, encodeResolution(resolution)]),
  }
  return `${JSON.stringify(stored)}\n`
}

export function decodePendingMerge(text: string): PendingMerge {
  const { resolutions, ...merge }: StoredMerge = JSON.parse(text)
  const decoded = resolutions.map(([path, stored]) => [path, decodeResolution(stored)] as const)
  return { ...merge, resolutions: new Map(decoded) }
}

function encodeResolution(resolution: Resolution): StoredResolution {
  if (typeof resolution === 'string') return resolution
  const { bytes, ...sides } = resolution
  return { base64: Buffer.from(bytes).toString('base64'), ...sides }
}

function decodeResolution(stored: StoredResolution): Resolution {
  if (typeof stored === 'string') return stored
  const { base64, ...sides } = stored
  return { bytes: Buffer.from(base64, 'base64'), ...sides }
}
