import { VfsError } from '../../vfs/index.ts'
import { getErrorMessage } from '../engines/engine-errors.ts'
import { applyOperation } from '../files/apply.ts'
import { applyDelta, decodeDelta, isDeltaBlob } from '../segments/delta-row.ts'
import type { StoreHome } from '../store-home.ts'
import { type BlobRef, CHUNK_BYTES } from '../tree/tree-values.ts'
import { decodeCheckpoint } from '../vault/checkpoints.ts'
import { toMoment } from '../vault/replica.ts'
import { decodeHead, type VaultHead, vaultKey } from '../vault/vault-head.ts'
import type { Damage } from './damage.ts'
import { readOperations } from './gc-roots.ts'
import { type SalvagedFile, SalvagedTree } from './salvaged-tree.ts'

/** A part of a vault that cannot be read. */
export interface Loss {
  /** Path of the file, or the vault's root if it is no single file. */
  readonly path: string
  readonly detail: string
}

/** Content of a file, with zeros where it cannot be read. */
export interface SalvagedContent {
  readonly chunks: readonly Uint8Array[]
  readonly loss?: string
}

/** The readable part of a vault in a damaged store. Changes nothing in the store. */
export class Salvage {
  readonly files: readonly SalvagedFile[]
  readonly losses: readonly Loss[]
  readonly #home: StoreHome
  readonly #hasLostPages: boolean

  private constructor(home: StoreHome, tree: SalvagedTree, losses: readonly Loss[]) {
    this.#home = home
    this.files = tree.list()
    const pages = [...tree.damagedPages].map((id) => ({ path: '/', detail: `page ${id} cannot be read` }))
    this.losses = [...losses, ...pages]
    this.#hasLostPages = pages.length > 0
  }

  /**
   * Reads a vault as it is now, or as it was at a checkpoint. Throws ENOENT if one of them is missing, EIO if its
   * record is damaged.
   */
  static async read(home: StoreHome, vault: string, checkpoint?: string): Promise<Salvage> {
    const head = await readHead(home, vault)
    const losses: Loss[] = (home.engine.findDamage?.() ?? []).map((detail) => ({
      path: '/',
      detail: `${detail} in the file of the store; what was changed last may be missing`,
    }))
    const root = checkpoint === undefined ? head.root : await readCheckpointRoot(home, head, checkpoint)
    const tree = new SalvagedTree(home, root)
    if (checkpoint === undefined) await replayJournal(home, head, tree, losses)
    return home.reader.run(() => new Salvage(home, tree, losses))
  }

  /** Reads the content of a file. */
  async readContent({ inode, blobs }: SalvagedFile): Promise<SalvagedContent> {
    if (inode === undefined) return { chunks: [], loss: 'it cannot be read' }
    const { content, size } = inode
    if (content instanceof Uint8Array) return { chunks: [content] }
    if (content !== 'chunks') return this.#readChunks([content], size)
    const refs = Array.from({ length: Math.ceil(size / CHUNK_BYTES) }, (_, index) => blobs.get(index))
    return this.#readChunks(refs, size)
  }

  async #readChunks(refs: readonly (BlobRef | undefined)[], size: number): Promise<SalvagedContent> {
    const chunks: Uint8Array[] = []
    const lost: string[] = []
    for (const [index, ref] of refs.entries()) {
      const start = index * CHUNK_BYTES
      const length = Math.min(refs.length === 1 ? size : CHUNK_BYTES, size - start)
      const bytes = await this.#tryReadBlob(ref)
      const whole = new Uint8Array(length)
      if (bytes === undefined) lost.push(`${start} to ${start + length}`)
      whole.set((bytes ?? (await this.#readPieces(ref))).subarray(0, length))
      chunks.push(whole)
    }
    return lost.length === 0 ? { chunks } : { chunks, loss: `bytes ${lost.join(', ')} cannot be read` }
  }

  /** Reads a blob; undefined if that fails. No reference is a hole, unless a damaged page may have had one. */
  async #tryReadBlob(ref: BlobRef | undefined): Promise<Uint8Array | undefined> {
    if (ref === undefined) return this.#hasLostPages ? undefined : new Uint8Array(0)
    if (ref.size === 0) return new Uint8Array(0)
    try {
      return await this.#home.reader.run(() => this.#home.blobs.get(ref))
    } catch {
      return undefined
    }
  }

  /** Reads what a delta has of a chunk whose rest cannot be read, with zeros for the rest. */
  async #readPieces(ref: BlobRef | undefined): Promise<Uint8Array> {
    try {
      const row = ref && isDeltaBlob(ref.blob) && (await this.#home.engine.readBlob(ref.blob))
      return ref && row ? applyDelta(new Uint8Array(0), decodeDelta(ref.blob, row)) : new Uint8Array(0)
    } catch {
      return new Uint8Array(0)
    }
  }
}

async function readHead({ reader }: StoreHome, vault: string): Promise<VaultHead> {
  return reader.run(() => {
    const bytes = reader.readRecord(vaultKey(vault))
    if (bytes !== undefined) return decodeHead(bytes)
    throw new VfsError('ENOENT', vault, { op: 'salvage', detail: `there is no vault '${vault}'` })
  })
}

async function readCheckpointRoot({ reader }: StoreHome, { id }: VaultHead, name: string): Promise<number> {
  return reader.run(() => {
    for (const { key, bytes } of reader.listRecords(`checkpoint/${id}/`)) {
      if (bytes === null || !key.endsWith(`/${name}`)) continue
      return decodeCheckpoint({ key, bytes }).root
    }
    throw new VfsError('ENOENT', name, { op: 'salvage', detail: `there is no checkpoint '${name}'` })
  })
}

/** Replays the journal rows after the stored tree; a row that cannot be applied is a loss. */
async function replayJournal(
  home: StoreHome,
  head: VaultHead,
  tree: SalvagedTree,
  losses: Loss[],
): Promise<void> {
  const report = ({ id, detail }: Damage) => {
    losses.push({ path: '/', detail: `row ${id} of the journal cannot be read: ${detail}` })
  }
  const span = { vault: head.id, start: head.seq, upTo: Number.POSITIVE_INFINITY }
  try {
    for await (const entries of readOperations(home, span, report)) {
      for (const { seq, time, operation } of entries) {
        try {
          await home.reader.run(() => applyOperation(tree.files, operation, toMoment(time, seq)))
        } catch (error) {
          losses.push({
            path: operation.path,
            detail: `row ${seq} of the journal: ${getErrorMessage(error)}`,
          })
        }
      }
    }
  } catch (error) {
    losses.push({ path: '/', detail: `the journal cannot be read further: ${getErrorMessage(error)}` })
  }
}
