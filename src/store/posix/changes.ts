import type { Files } from '../files/files.ts'
import type { FileOperation, Provenance } from '../files/operation.ts'
import { notLocal } from '../reader.ts'
import type { Blobs } from '../vault/blobs.ts'
import type { Quota } from '../vault/quota.ts'
import { momentOf, type Plan } from '../vault/replica.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import { Draft } from './draft.ts'
import { GatheredChanges } from './gathered-changes.ts'

/** What changes together with the vault in a batch, and goes back when the batch does. */
export interface BatchState {
  begin(): void
  rollback(): void
  settle(): void
}

/**
 * The one way calls change a vault: each committed when it returns, or many together at the end of a batch, or some
 * milliseconds later with others where they are gathered.
 */
export class Changes {
  readonly #log: VaultLog
  readonly #blobs: Blobs
  readonly #by: Provenance
  readonly #gathered: GatheredChanges | undefined
  #draft: Draft | undefined
  #mustSync = false

  constructor(log: VaultLog, blobs: Blobs, by: Provenance, gathers: boolean) {
    this.#log = log
    this.#blobs = blobs
    this.#by = by
    const { gathering } = blobs.reader.engine
    if (gathers && gathering !== undefined) this.#gathered = new GatheredChanges(log, blobs, by, gathering)
  }

  /** Whether changes are gathered where they can be. */
  get gathers(): boolean {
    return this.#gathered !== undefined
  }

  /** Another number after each change, 0 if there is nothing to settle. */
  get waiting(): number {
    return this.#gathered?.waiting ?? 0
  }

  /** Lets others see everything that was done. */
  settle(): void {
    this.#gathered?.settle()
  }

  /** The files with everything that was done, also inside a batch. */
  get files(): Files {
    return this.#draft?.files ?? this.#gathered?.files ?? this.#log.read()
  }

  get quota(): Quota {
    return this.#draft?.quota ?? this.#log.quota
  }

  make(plan: Plan): void {
    const draft = this.#draft ?? this.#gathered?.open()
    if (draft === undefined) {
      this.#log.submitNow(plan, this.#by)
      return
    }
    const operation = plan(draft.files)
    if (operation !== null) draft.add(operation)
    if (this.#draft === undefined) this.#gathered?.keep()
  }

  /** Done whole or not at all; tried again from its beginning if that fails or somebody else commits first. */
  batch(work: () => void, state: BatchState): void {
    if (this.#draft !== undefined) {
      work()
      return
    }
    const gathered = this.#gathered?.open()
    if (gathered === undefined) this.#commitTogether(work, state)
    else this.#gatherTogether(gathered, work, state)
    if (this.#mustSync) this.sync()
  }

  #gatherTogether(draft: Draft, work: () => void, state: BatchState): void {
    this.#mustSync = false
    this.#draft = draft
    state.begin()
    try {
      draft.attempt(work)
    } catch (error) {
      state.rollback()
      throw error
    } finally {
      this.#draft = undefined
    }
    state.settle()
    this.#gathered?.keep()
  }

  #commitTogether(work: () => void, state: BatchState): void {
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
  }

  /** Everything done so far survives power loss when it returns; inside a batch, when that does. */
  sync(): void {
    this.#mustSync = this.#draft !== undefined
    if (this.#mustSync) return
    this.settle()
    this.#log.read()
    const { engine } = this.#blobs.reader
    if (engine.sync() instanceof Promise) throw notLocal(engine)
  }

  #drafted(files: Files, quota: Quota, work: () => void): FileOperation | null {
    const draft = new Draft(files, momentOf(Date.now(), this.#log.seq + 1), quota, this.#blobs)
    this.#draft = draft
    try {
      work()
    } finally {
      this.#draft = undefined
    }
    return draft.finish()?.operation ?? null
  }
}
