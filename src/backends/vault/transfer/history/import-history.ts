import {
  type Checkpoint,
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
 * Brings a history into a vault: each step becomes a checkpoint, and its changes rows of the journal. The vault must be
 * as the checkpoint it goes on from has it, or empty: ECONFLICT. Whatever ends it, the vault is at a whole step
 * afterwards; after a kill, the next import sees to that. Run again, it goes on. Returns how many steps it took.
 */
export async function importHistory(
  home: StoreHome,
  vault: string,
  history: IncomingHistory,
  options: HistoryOptions = {},
): Promise<number> {
  const log = await home.openVault(vault)
  const way = new HistoryImport(home, log, options)
  await way.begin(history)
  for await (const step of history.steps) await way.applyStep(step)
  return way.steps
}

class HistoryImport {
  readonly #home: StoreHome
  readonly #log: VaultLog
  readonly #options: HistoryOptions
  /** The checkpoint the vault is at; undefined while it is empty. */
  #at: string | undefined
  /** The last row of the journal that is known: more than its own rows behind it are of somebody else. */
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
    this.#at = after
    this.#tracePrefix = tracePrefix
    await this.#log.commitPending()
    const state = await this.#home.reader.run(() => this.#stateSince(after))
    if (state === 'left over') await this.#rollBack()
    if (state !== 'changed') return
    const detail =
      after === undefined
        ? 'the vault has files of its own; import the history into a new vault'
        : `the vault was changed since its checkpoint '${after}'; restore that, or import into a new vault`
    throw new VfsError('ECONFLICT', '/', { op: 'import', detail })
  }

  async applyStep(step: HistoryStep): Promise<void> {
    const { signal } = this.#options
    const by = { ...toProvenance(this.#options), trace: step.trace }
    const target = new StepTarget(this.#log, this.#home.blobs, by, step.time)
    try {
      if (step.base !== this.#at) await this.#restoreTo(step.base, by)
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
      // What somebody else does there is not taken back.
      if (!(error instanceof ConcurrentChangeError)) await this.#rollBack()
      throw error
    }
    this.#at = step.name
    this.steps++
    this.#reportProgress()
  }

  /** Takes the checkpoint, unless somebody else changed the vault since the one before: it would have what the step has not. */
  async #createCheckpoint({ name, description, meta }: HistoryStep, rows: number): Promise<void> {
    const { seq } = await this.#home.createCheckpoint(this.#log, name, { description, meta })
    this.#seq += rows
    if (seq === this.#seq) return
    await this.#home.getCheckpoints(this.#log).remove(name)
    throw new ConcurrentChangeError()
  }

  #reportProgress(): void {
    this.#options.onProgress?.({ done: this.steps, bytes: this.#bytes })
  }

  /** Whether the vault is as a checkpoint has it, or else whether all that came since is of an import that was killed. */
  #stateSince(after: string | undefined): 'same' | 'changed' | 'left over' {
    const files = this.#log.readFiles()
    this.#seq = this.#log.seq
    const kept: Checkpoint | undefined =
      after === undefined ? undefined : this.#home.getCheckpoints(this.#log).get(after)
    const isSame =
      kept === undefined
        ? files.getCounters().files === 0
        : this.#home.listChangedInodes(kept.root, files.tree.snapshot()).size === 0
    if (isSame) return 'same'
    for (let at = kept?.seq ?? this.#log.journal.start; ; ) {
      const entries = this.#log.journal.readAfter(at)
      if (entries.some(({ trace }) => !trace?.startsWith(this.#tracePrefix))) return 'changed'
      const last = entries.at(-1)
      if (last === undefined) return 'left over'
      at = last.seq
    }
  }

  /** Back to the last whole step. */
  #rollBack(): Promise<void> {
    return this.#restoreTo(this.#at, {
      ...toProvenance(this.#options),
      trace: `${this.#tracePrefix}taken-back`,
    })
  }

  /** Becomes what a checkpoint has, or empty. */
  async #restoreTo(checkpoint: string | undefined, by: Provenance): Promise<void> {
    if (checkpoint === undefined) return this.#clear(by)
    const readRecord = () => this.#home.getCheckpoints(this.#log).readRecord(checkpoint)
    await this.#log.submit(
      () => ({ op: 'restore', path: '/', root: decodeCheckpoint(readRecord()).root, checkpoint }),
      by,
      () => ({ expect: [readRecord()] }),
    )
    this.#seq++
  }

  async #clear(by: Provenance): Promise<void> {
    let isRow = false
    await this.#log.submit((files) => {
      const names = [...files.listEntries(files.findByPath('/') ?? 0)].map(({ name }) => name)
      const operations = names.map((name) => ({ op: 'remove', path: `/${name}`, recursive: true }) as const)
      isRow = operations.length > 0
      return isRow ? { op: 'batch', path: '/', operations } : null
    }, by)
    if (isRow) this.#seq++
  }
}

/** Somebody else changed the vault during a step. */
class ConcurrentChangeError extends VfsError {
  constructor() {
    const detail =
      'somebody else changed the vault meanwhile; import again when nobody does, or into a new vault'
    super('ECONFLICT', '/', { op: 'import', detail })
  }
}
