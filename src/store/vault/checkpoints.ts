import { VfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import { commitOnce, isRecordStored } from '../commit-once.ts'
import type { RecordRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import type { VaultHead } from './vault-head.ts'

/** A named, immutable root of a vault. */
export interface Checkpoint {
  readonly name: string
  readonly root: number
  /** Last journal row it includes. */
  readonly seq: number
  /** Number of the vault's checkpoints so far, this one included; absent in those of earlier versions. */
  readonly order?: number
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly description?: string
  /** Metadata from the caller, such as the commit it stands for. */
  readonly meta?: Readonly<Record<string, string>>
  /** Identity that stays the same in every copy: an incremental transfer finds its base by it. */
  readonly uid: string
}

const CHECKPOINT_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** The checkpoints of one vault, each a record of the home. */
export class Checkpoints {
  readonly #reader: EngineReader
  readonly #prefix: string

  constructor(reader: EngineReader, vault: number) {
    this.#reader = reader
    this.#prefix = `checkpoint/${vault}/`
  }

  /** Throws EINVAL if the name is invalid, EEXIST if it is taken. */
  assertFree(name: string): void {
    if (!CHECKPOINT_NAME_PATTERN.test(name)) {
      const detail =
        'a checkpoint name is 1 to 128 letters, digits, dots, - or _, and starts with a letter or digit'
      throw new VfsError('EINVAL', name, { op: 'checkpoint', detail })
    }
    if (this.#reader.readRecord(this.#prefix + name) === undefined) return
    const detail = `there is a checkpoint '${name}' already; choose another name`
    throw new VfsError('EEXIST', name, { op: 'checkpoint', detail })
  }

  /** Encodes a checkpoint as a record. */
  toRecord(checkpoint: Checkpoint): { key: string; bytes: Uint8Array } {
    return { key: this.#prefix + checkpoint.name, bytes: encodeChecksummedJson(checkpoint) }
  }

  /** Returns a checkpoint. Throws ENOENT if there is none of this name. */
  get(name: string): Checkpoint {
    return decodeCheckpoint(this.readRecord(name))
  }

  /** Reads the stored record of a checkpoint. Throws ENOENT if there is none of this name. */
  readRecord(name: string): RecordRow & { readonly bytes: Uint8Array } {
    const key = this.#prefix + name
    const bytes = this.#reader.readRecord(key)
    if (bytes !== undefined) return { key, bytes }
    throw new VfsError('ENOENT', name, { op: 'checkpoint', detail: `there is no checkpoint '${name}'` })
  }

  /** Lists all checkpoints in the order they were taken. */
  list(): Checkpoint[] {
    const rows = this.#reader.listRecords(this.#prefix)
    const found = rows.flatMap(({ key, bytes }) => (bytes === null ? [] : [decodeCheckpoint({ key, bytes })]))
    return found.sort(
      (a, b) =>
        a.seq - b.seq || (a.order ?? 0) - (b.order ?? 0) || a.time - b.time || (a.name < b.name ? -1 : 1),
    )
  }

  /** Removes a checkpoint. Throws ENOENT if there is none of this name. */
  async remove(name: string): Promise<void> {
    const { key } = await this.#reader.run(() => this.readRecord(name))
    const deletion = { key, bytes: null }
    await commitOnce(this.#reader, { records: [deletion] }, () => isRecordStored(this.#reader, deletion))
  }

  /** Returns `checkpoint-YYYYMMDD-HHMMSS`, with a numeric suffix if that name is taken. */
  createDefaultName(time: number): string {
    const [date = '', clock = ''] = new Date(time).toISOString().replaceAll(/[-:]/g, '').split(/[T.]/)
    const base = `checkpoint-${date}-${clock}`
    const names = new Set(this.list().map(({ name }) => name))
    for (let number = 2; ; number++) {
      const name = number === 2 && !names.has(base) ? base : `${base}-${number}`
      if (!names.has(name)) return name
    }
  }
}

export function decodeCheckpoint({
  key,
  bytes,
}: {
  readonly key: string
  readonly bytes: Uint8Array
}): Checkpoint {
  return decodeChecksummedJson(bytes, key)
}

/** Returns the checkpoints of a vault's ancestors, up to the states from which it was forked; the oldest first. */
export function listInheritedCheckpoints(reader: EngineReader, { lineage }: VaultHead): Checkpoint[] {
  return lineage
    .toReversed()
    .flatMap(({ id, seq }) =>
      new Checkpoints(reader, id).list().filter((checkpoint) => checkpoint.seq <= seq),
    )
}
