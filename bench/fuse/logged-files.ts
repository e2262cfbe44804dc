import type { InodeChanges } from '../../src/fuse/inode-fs.ts'
import { encodeChecksummedJson } from '../../src/store/checksummed-json.ts'
import type { BlobRow, GroupCommit, JournalRow } from '../../src/store/engine.ts'
import { SqliteEngine } from '../../src/store/engines/sqlite/sqlite-engine.ts'
import { ForgetfulFiles } from './forgetful-files.ts'

const NO_HASH = new Uint8Array(0)
/** As long as a group of a vault may stay open. */
const MAX_AGE_MS = 4
const VAULT = 1

type Owner = Parameters<ForgetfulFiles['create']>[2]

/**
 * Files in plain maps whose changes a kill does not lose, as those of a vault: each is in the side log before it is
 * answered, and all of a group are one row of a journal, with their content as rows. There is no tree, no plan of a
 * change, no earlier version and no search by hash. So no vault with these promises can be faster.
 */
export class LoggedFiles extends ForgetfulFiles {
  readonly #engine: SqliteEngine
  readonly #groupCommit: GroupCommit
  readonly #operations = new Map<number, object>()
  readonly #blobs = new Map<number, BlobRow>()
  #startedAt = 0
  #seq = 1
  #nextBlob = 1

  constructor(file: string) {
    super()
    this.#engine = new SqliteEngine({ file })
    const { groupCommit } = this.#engine
    if (groupCommit === undefined) throw new Error('the store has no group commit')
    this.#groupCommit = groupCommit
  }

  override setattr(ino: number, changes: InodeChanges): void {
    super.setattr(ino, changes)
    this.#log(ino, { op: 'attributes', inode: ino, ...changes })
  }

  override create(parent: number, name: string, owner: Owner): number {
    const ino = super.create(parent, name, owner)
    this.#log(ino, { op: 'create', parent, name, type: 'file', ...owner })
    return ino
  }

  override mkdir(parent: number, name: string, owner: Owner): number {
    const ino = super.mkdir(parent, name, owner)
    this.#log(ino, { op: 'create', parent, name, type: 'directory', ...owner })
    return ino
  }

  override symlink(parent: number, name: string, target: string, owner: Omit<Owner, 'mode'>): number {
    const ino = super.symlink(parent, name, target, owner)
    this.#log(ino, { op: 'create', parent, name, type: 'symlink', ...owner, text: target })
    return ino
  }

  override link(ino: number, parent: number, name: string): void {
    super.link(ino, parent, name)
    this.#log(ino, { op: 'link', inode: ino, parent, name })
  }

  override unlink(parent: number, name: string): void {
    const ino = this.lookup(parent, name) ?? 0
    super.unlink(parent, name)
    this.#log(ino, { op: 'unlink', parent, name })
  }

  override rename(parent: number, name: string, newParent: number, newName: string): void {
    super.rename(parent, name, newParent, newName)
    const ino = this.lookup(newParent, newName) ?? 0
    this.#log(ino, { op: 'move', from: [parent, name], target: [newParent, newName] })
  }

  override write(ino: number, position: number, bytes: Uint8Array): void {
    super.write(ino, position, bytes)
    const blob = { id: this.#nextBlob++, hash: NO_HASH, bytes: Buffer.from(bytes) }
    // A second write to a file is a chunk of its own; the first chunk keeps its row.
    this.#blobs.set(blob.id, blob)
    this.#log(ino, { op: 'patch', inode: ino, position, size: bytes.length, blob: blob.id }, [blob])
  }

  override commit(): void {
    if (this.#operations.size === 0) return
    const journal = [this.#toRow({ op: 'batch', operations: [...this.#operations.values()] }, this.#seq++)]
    const blobs = [...this.#blobs.values()]
    this.#operations.clear()
    this.#blobs.clear()
    this.#groupCommit.commit(() => {
      if (!this.#engine.commit({ journal, blobs })) throw new Error('the store is in use')
    })
  }

  /** Appends an operation to the side log. Those of one inode are joined in the row of the group. */
  #log(ino: number, operation: object, blobs: readonly BlobRow[] = []): void {
    if (this.#operations.size === 0) this.#begin()
    this.#operations.set(ino, { ...this.#operations.get(ino), ...operation })
    const journal = [this.#toRow(operation, this.#seq + this.#operations.size)]
    this.#groupCommit.append({ blobs, journal })
    if (performance.now() - this.#startedAt >= MAX_AGE_MS) this.commit()
  }

  #begin(): void {
    if (!this.#groupCommit.begin()) throw new Error('the store is in use')
    this.#startedAt = performance.now()
  }

  #toRow(operation: object, seq: number): JournalRow {
    return { vault: VAULT, seq, bytes: encodeChecksummedJson({ time: Date.now(), operation }) }
  }
}
