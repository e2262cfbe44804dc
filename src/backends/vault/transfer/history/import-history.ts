import {
  type Checkpoint,
  createCheckpoint,
  decodeCheckpoint,
  type Provenance,
  type StoreHome,
  type VaultLog,
} from '../../../../store/index.ts'
import { VfsError } from '../../../../vfs/index.ts'
import { toProvenance } from '../../to-provenance.ts'
import type { HistoryOptions, HistoryStep, IncomingHistory } from './history-steps.ts'
import { StepTarget } from './step-target.ts'

/** Changes between two progress reports. */
const CHANGES_PER_PROGRESS = 200

/**
 * Imports a history, such as the commits of a Git repository, into a vault: each step becomes a checkpoint, and its
 * changes become journal rows. Returns the number of steps.
 *
 * Throws ECONFLICT if the vault differs from the checkpoint that the history continues, or if the history continues
 * none and the vault has files. A failed import leaves the vault at its last complete step; after a kill, the next import
 * first restores that one. If another writer changed the vault meanwhile, both its changes and those of the step stay.
 */
export async function importHistory(
  home: StoreHome,
  vault: string,
  history: IncomingHistory,
  options: HistoryOptions = {},
): Promise<number> {
  const log = await home.openVault(vault)
  const job = new HistoryImport(home, log, options)
  await job.begin(history)
  for await (const step of history.steps) await job.applyStep(step)
  return job.steps
}

class HistoryImport {
  readonly #home: StoreHome
  readonly #log: VaultLog
  readonly #options: HistoryOptions
  /** The current checkpoint of the vault; undefined while it is empty. */
  #checkpoint: string | undefined
  /** The journal position that this import has reached, without the rows of the current step. */
  #seq = 0
  #tracePrefix = ''
  #bytes = 0
  steps = 0

  constructor(home: StoreHome, log: VaultLog, options: HistoryOptions) {
    this.#home = home
    this.#log = log
    this.#options = options
  }

  async begin({ after, tracePrefix }: IncomingHistory): Promise<void> {
    this.#checkpoint = after
    this.#tracePrefix = tracePrefix
    await this.#log.commitPending()
    const state = await this.#home.reader.run(() => {
      const found = this.#compareWith(after)
      this.#seq = this.#log.seq
      return found
    })
    if (state === 'interrupted') await this.#rollBack()
    if (state !== 'changed') return
    const detail =
      after === undefined
        ? 'the vault has files already; import the history into a new vault'
        : `the vault was changed since its checkpoint '${after}'; restore the checkpoint or import into a new vault`
    throw new VfsError('ECONFLICT', '/', { op: 'import', detail })
  }

  async applyStep(step: HistoryStep): Promise<void> {
    const { signal } = this.#options
    const provenance = { ...toProvenance(this.#options), trace: step.trace }
    const target = new StepTarget(this.#log, this.#home.blobs, provenance, step.time)
    try {
      if (step.base !== this.#checkpoint) await this.#restoreTo(step.base, provenance)
      let changes = 0
      for await (const change of step.changes()) {
        signal?.throwIfAborted()
        await target.apply(change)
        if (change.kind === 'file' && change.content instanceof Uint8Array)
          this.#bytes += change.content.length
        if (++changes % CHANGES_PER_PROGRESS === 0) this.#reportProgress()
      }
      await target.finish()
      signal?.throwIfAborted()
      await this.#createCheckpoint(step, target.rows)
    } catch (error) {
      await target.finish().catch(() => {})
      // A rollback would discard the changes of the other writer too.
      if (!(await this.#hasForeignRows(target.rows))) await this.#rollBack()
      throw error
    }
    this.#checkpoint = step.name
    this.steps++
    this.#reportProgress()
  }

  /** Creates the checkpoint, unless another writer has changed the vault since the one before. */
  async #createCheckpoint({ name, description, meta }: HistoryStep, rows: number): Promise<void> {
    const { seq } = await createCheckpoint(this.#log, this.#home.getCheckpoints(this.#log), name, {
      description,
      meta,
    })
    if (seq !== this.#seq + rows) {
      await this.#home.getCheckpoints(this.#log).remove(name)
      throw createConcurrentChangeError()
    }
    this.#seq = seq
  }

  /**
   * Reports whether the journal has rows by another writer.
   *
   * @param rows the number of rows of this import since its last complete step.
   */
  async #hasForeignRows(rows: number): Promise<boolean> {
    await this.#log.commitPending()
    return this.#home.reader.run(() => {
      this.#log.refresh()
      return this.#log.seq !== this.#seq + rows
    })
  }

  #reportProgress(): void {
    this.#options.onProgress?.({ done: this.steps, bytes: this.#bytes })
  }

  /** Compares the vault with a checkpoint: the same, changed, or changed only by an import that was killed. */
  #compareWith(after: string | undefined): 'same' | 'changed' | 'interrupted' {
    const files = this.#log.readFiles()
    const found: Checkpoint | undefined =
      after === undefined ? undefined : this.#home.getCheckpoints(this.#log).get(after)
    const isSame =
      found === undefined
        ? files.getCounters().files === 0
        : this.#home.trees.listChangedInodes(found.root, files.tree.snapshot()).size === 0
    if (isSame) return 'same'
    for (let position = found?.seq ?? this.#log.journal.start; ; ) {
      const entries = this.#log.journal.readAfter(position)
      if (entries.some(({ trace }) => !trace?.startsWith(this.#tracePrefix))) return 'changed'
      const last = entries.at(-1)
      if (last === undefined) return 'interrupted'
      position = last.seq
    }
  }

  /** Restores the last complete step. */
  #rollBack(): Promise<void> {
    return this.#restoreTo(this.#checkpoint, {
      ...toProvenance(this.#options),
      trace: `${this.#tracePrefix}rolled-back`,
    })
  }

  /** Restores a checkpoint, or empties the vault. */
  async #restoreTo(checkpoint: string | undefined, provenance: Provenance): Promise<void> {
    if (checkpoint === undefined) return this.#clear(provenance)
    const readRecord = () => this.#home.getCheckpoints(this.#log).readRecord(checkpoint)
    await this.#log.submit(
      () => ({ op: 'restore', path: '/', root: decodeCheckpoint(readRecord()).root, checkpoint }),
      provenance,
      () => ({ expect: [readRecord()] }),
    )
    this.#seq++
  }

  async #clear(provenance: Provenance): Promise<void> {
    let hasChange = false
    await this.#log.submit((files) => {
      const names = [...files.listEntries(files.findByPath('/') ?? 0)].map(({ name }) => name)
      const operations = names.map((name) => ({ op: 'remove', path: `/${name}`, recursive: true }) as const)
      hasChange = operations.length > 0
      return hasChange ? { op: 'batch', path: '/', operations } : null
    }, provenance)
    if (hasChange) this.#seq++
  }
}

function createConcurrentChangeError(): VfsError {
  const detail =
    'another writer changed the vault during the import; import again when it is idle, or into a new vault'
  return new VfsError('ECONFLICT', '/', { op: 'import', detail })
}
