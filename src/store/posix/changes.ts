import { VfsError } from '../../vfs/index.ts'
import type { Engine } from '../engine.ts'
import type { Files } from '../files/files.ts'
import type { FileOperation, Provenance } from '../files/operation.ts'
import type { EngineReader } from '../reader.ts'
import type { Quota } from '../vault/quota.ts'
import { momentOf, type Plan } from '../vault/replica.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import { Draft } from './draft.ts'

/** What changes together with the vault in a batch, and goes back when the batch does. */
export interface BatchState {
  begin(): void
  rollback(): void
  settle(): void
}

/** The one way calls change a vault: each committed when it returns, or many together at the end of a batch. */
export class Changes {
  readonly #log: VaultLog
  readonly #reader: EngineReader
  readonly #by: Provenance
  #draft: Draft | undefined
  #mustSync = false

  constructor(log: VaultLog, reader: EngineReader, by: Provenance) {
    this.#log = log
    this.#reader = reader
    this.#by = by
  }

  /** The files with everything that was done, also inside a batch. */
  get files(): Files {
    return this.#draft?.files ?? this.#log.read()
  }

  get quota(): Quota {
    return this.#draft?.quota ?? this.#log.quota
  }

  make(plan: Plan): void {
    if (this.#draft === undefined) {
      this.#log.submitNow(plan, this.#by)
      return
    }
    const operation = plan(this.#draft.files)
    if (operation !== null) this.#draft.add(operation)
  }

  /** Done whole or not at all; tried again from its beginning if that fails or somebody else commits first. */
  batch(work: () => void, state: BatchState): void {
    if (this.#draft !== undefined) {
      work()
      return
    }
    const { quota } = this
    let tries = 0
    try {
      this.#log.submitNow((files) => {
        if (tries++ > 0) state.rollback()
        state.begin()
        this.#mustSync = false
        return this.#drafted(files, quota, work)
      }, this.#by)
    } catch (error) {
      state.rollback()
      throw error
    }
    state.settle()
    if (this.#mustSync) this.sync()
  }

  /** Everything done so far survives power loss when it returns; inside a batch, when that does. */
  sync(): void {
    this.#mustSync = this.#draft !== undefined
    if (this.#mustSync) return
    this.#log.read()
    const { engine } = this.#reader
    if (engine.sync() instanceof Promise) throw notLocal(engine)
  }

  #drafted(files: Files, quota: Quota, work: () => void): FileOperation | null {
    const draft = new Draft(files, momentOf(Date.now(), this.#log.seq + 1), quota)
    this.#draft = draft
    try {
      work()
    } finally {
      this.#draft = undefined
    }
    return draft.operation
  }
}

export function notLocal({ name }: Engine): VfsError {
  return new VfsError('ENOTSUP', '/', { detail: `the engine '${name}' lets callers wait; use a local one` })
}
