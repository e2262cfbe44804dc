import { VfsError } from '../vfs/index.ts'
import type { Provenance } from './files/operation.ts'
import type { StoreHome } from './store-home.ts'
import { type Ancestor, decodeHead, vaultKey } from './vault/vault-head.ts'
import { createMissingVaultError } from './vault-name.ts'

export interface RestoreRequest {
  readonly target: string
  /** Fork of the target whose origin is restored. */
  readonly before: string
  /** Later fork of the target. A change of the target after it refuses the restore. */
  readonly after: string
  /** Name of the restored state in the journal. */
  readonly label: string
  readonly provenance?: Provenance
}

/**
 * Restores the state that a vault had when a fork of it was made, unless the vault changed after a later fork. One
 * durable commit, O(1). ECONFLICT if it changed, ENOENT if one of the vaults is missing, EINVAL for forks of another
 * vault.
 */
export async function restoreVault(home: StoreHome, request: RestoreRequest): Promise<void> {
  const { target, before, after, label, provenance = {} } = request
  const log = await home.openVault(target)
  const readHead = () => readForkHead(home, before)
  const { origin } = await home.reader.run(readHead)
  const last = await home.reader.run(() => readForkHead(home, after).origin)
  if (origin.id !== log.head.id || last.id !== log.head.id) {
    const detail = `'${before}' and '${after}' are not forks of '${target}'`
    throw new VfsError('EINVAL', target, { op: 'restore', detail })
  }
  await log.submit(
    (_files, row = log.seq + 1) => {
      if (row > last.seq + 1) throw createChangedError(target, row - 1 - last.seq)
      return { op: 'restore', path: '/', root: origin.root, checkpoint: label }
    },
    provenance,
    // The fork must still hold the tree when the journal starts to depend on it.
    () => ({ expect: [readHead().record] }),
  )
  await log.flushPages({ durable: true })
}

/** Reads the record of a fork, and the state of its origin. ENOENT if it is missing, EINVAL if it is no fork. */
function readForkHead(
  { reader }: StoreHome,
  name: string,
): { readonly origin: Ancestor; readonly record: { readonly key: string; readonly bytes: Uint8Array } } {
  const key = vaultKey(name)
  const bytes = reader.readRecord(key)
  if (bytes === undefined) throw createMissingVaultError(name)
  const [origin] = decodeHead(bytes).lineage
  if (origin !== undefined) return { origin, record: { key, bytes } }
  throw new VfsError('EINVAL', name, { op: 'restore', detail: `'${name}' is not a fork` })
}

function createChangedError(target: string, changes: number): VfsError {
  const detail = `nothing was restored: '${target}' has ${changes === 1 ? 'a change' : `${changes} changes`} since; see coppice log --vault ${target}`
  return new VfsError('ECONFLICT', target, { op: 'restore', detail })
}
