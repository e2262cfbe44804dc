import { type CallContext, SPECIAL_BITS, VfsError } from '../../vfs/index.ts'
import { ApplyError, findPendingChanges } from './apply-conflicts.ts'
import { findFirstNames } from './compare-touched-paths.ts'
import { compareTrees, createChangeWork, type TreeChange } from './compare-trees.ts'
import { findDifferingPaths } from './differing-paths.ts'
import { writeDirectory } from './directory-write.ts'
import { HostTree } from './host-tree.ts'
import { isSameEntry } from './link-entry.ts'
import type { LinkHome } from './link-home.ts'
import { getUndoName, type LinkRecord, readRecord, writeRecord } from './link-record.ts'
import { isUnsure } from './mirror.ts'
import type { FirstNames } from './new-files.ts'
import { createStageName } from './stage-names.ts'
import type { TreeFiles } from './tree.ts'
import { performWork } from './tree-work.ts'
import { discardStage, revertUnfinished } from './unfinished-write.ts'
import { WriteLock } from './write-lock.ts'

/** A fork of a linked directory, and the vault that mirrors its base. */
export interface AppliedFork {
  readonly name: string
  readonly mirror: string
  readonly used: Date
}

/** Caller of an apply, and the signal that cancels its wait for other writers. */
export interface ApplyContext extends Pick<CallContext, 'caller' | 'trace' | 'signal'> {
  /** Writes setuid and setgid bits of the fork. They are not written when absent. */
  readonly keepSetuid?: boolean
}

/** Outcome of an apply or undo whose process was killed. */
export interface Recovery {
  readonly fork: string
  readonly act: 'apply' | 'undo'
  /** `stuck`: it could be neither completed nor reverted, and the next command retries. */
  readonly outcome: 'taken-back' | 'finished' | 'stuck'
  /** Reason of `stuck`. */
  readonly reason?: string
}

/** Planned write to a directory, with the record that tracks it. */
interface PendingWrite {
  readonly mirror: TreeFiles
  readonly record: LinkRecord
  readonly pending: readonly TreeChange[]
  readonly names: FirstNames
}

/**
 * Applies forks to their directory, and undoes that. The record of the mirror tracks the progress. If the process was
 * killed, another one reverts the apply, or completes it once the directory has every change.
 */
export class ForkApply {
  readonly #home: LinkHome
  readonly #directory: string

  constructor(home: LinkHome, directory: string) {
    this.#home = home
    this.#directory = directory
  }

  async apply(
    fork: AppliedFork,
    { signal, keepSetuid = false, ...provenance }: ApplyContext,
  ): Promise<TreeChange[]> {
    using _lock = await this.#lock(signal)
    await this.#assertRecovered(fork.mirror)
    using tree = new HostTree(this.#directory)
    const [mirror, after] = [
      await this.#home.posix(fork.mirror, { by: provenance }),
      await this.#home.posix(fork.name),
    ]
    const all = compareTrees(mirror, after)
    const changes = keepSetuid ? all : dropSetuid(all)
    // Nothing is written then, and the last apply can still be undone.
    if (all.length === 0) await this.#assertApplied(fork, tree, after)
    else if (changes.length > 0) {
      const pending = findPendingChanges(tree, changes, (path) => isUnsure(mirror, path))
      const paths = pending.map(({ path }) => path)
      const record: LinkRecord = { ...this.#createRecord(fork), ...(keepSetuid && { keepSetuid: true }) }
      writePending(tree, { mirror, record, pending, names: findFirstNames(after, paths) })
      await this.#finishApply(fork.mirror, mirror, { ...record, step: 'written' }, changes)
    }
    return changes
  }

  async undo(fork: AppliedFork, { signal, ...provenance }: ApplyContext): Promise<TreeChange[]> {
    using _lock = await this.#lock(signal)
    await this.#assertRecovered(fork.mirror)
    if (!(await this.#isApplied(fork.mirror))) {
      const detail = `${fork.name} was not applied to ${this.#directory}; there is nothing to undo`
      throw new VfsError('ENOENT', this.#directory, { op: 'undo', detail })
    }
    using tree = new HostTree(this.#directory)
    const mirror = await this.#home.posix(fork.mirror, { by: provenance })
    const changes = compareTrees(mirror, await this.#home.posix(getUndoName(fork.mirror)))
    const pending = findPendingChanges(tree, changes, () => false)
    const record: LinkRecord = { ...this.#createRecord(fork), isUndo: true }
    writePending(tree, { mirror, record, pending, names: new Map() })
    await this.#finishUndo(fork.mirror, mirror, record, changes)
    return changes
  }

  /** Lists the paths at which the directory differs from a fork. */
  async listDifferingPaths(fork: string): Promise<string[]> {
    using tree = new HostTree(this.#directory)
    return [...findDifferingPaths(tree, await this.#home.posix(fork))]
  }

  /**
   * Completes or reverts the apply of a killed process. Does nothing while another process writes to the directory.
   * Returns the mirror's record afterwards.
   */
  async recoverApply(
    mirror: string,
  ): Promise<{ readonly record: LinkRecord | undefined; readonly recovery?: Recovery }> {
    const record = readRecord(await this.#home.posix(mirror))
    if (record?.stage === undefined) return { record }
    using lock = WriteLock.tryAcquire(this.#home.path, this.#directory)
    return lock === undefined ? { record } : this.#recoverLocked(mirror)
  }

  async #recoverLocked(
    mirror: string,
  ): Promise<{ readonly record: LinkRecord | undefined; readonly recovery?: Recovery }> {
    const files = await this.#home.posix(mirror)
    const record = readRecord(files)
    if (record?.stage === undefined) return { record }
    const { fork, isUndo } = record
    const interrupted = { fork, act: isUndo === true ? 'undo' : 'apply' } as const
    try {
      const outcome = await this.#finishOrRevert(mirror, files, record, record.stage)
      return {
        record: readRecord(files),
        ...(outcome !== undefined && { recovery: { ...interrupted, outcome } }),
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return { record, recovery: { ...interrupted, outcome: 'stuck', reason } }
    }
  }

  /** Returns undefined if nothing had been written yet. */
  async #finishOrRevert(
    mirror: string,
    files: TreeFiles,
    record: LinkRecord,
    stage: string,
  ): Promise<'taken-back' | 'finished' | undefined> {
    using tree = new HostTree(this.#directory)
    if (record.step === undefined) {
      const isTakenBack = revertUnfinished(tree, stage)
      writeRecord(files, clearApplyState(record))
      return isTakenBack ? 'taken-back' : undefined
    }
    discardStage(tree, stage)
    const kept = getUndoName(mirror)
    if (record.isUndo !== true) {
      const all = compareTrees(files, await this.#home.posix(record.fork))
      const changes = record.keepSetuid === true ? all : dropSetuid(all)
      await this.#finishApply(mirror, files, record, changes)
    } else {
      const isThere = (await this.#home.vaults()).includes(kept)
      const changes = isThere ? compareTrees(files, await this.#home.posix(kept)) : []
      await this.#finishUndo(mirror, files, record, changes)
    }
    return 'finished'
  }

  /** Updates the mirror to the directory, and keeps the earlier state for an undo. May run again. */
  async #finishApply(
    name: string,
    mirror: TreeFiles,
    record: LinkRecord,
    changes: readonly TreeChange[],
  ): Promise<void> {
    if (record.step !== 'kept') {
      const kept = getUndoName(name)
      if (await this.#isApplied(name)) await this.#home.deleteVault(kept)
      await this.#home.fork(name, kept)
      writeRecord(mirror, { ...record, step: 'kept' })
    }
    await performWork(mirror, changes.map(createChangeWork))
    writeRecord(mirror, clearApplyState(record))
  }

  async #finishUndo(
    name: string,
    mirror: TreeFiles,
    record: LinkRecord,
    changes: readonly TreeChange[],
  ): Promise<void> {
    await performWork(mirror, changes.map(createChangeWork))
    if (await this.#isApplied(name)) await this.#home.deleteVault(getUndoName(name))
    writeRecord(mirror, clearApplyState(record))
  }

  #lock(signal: AbortSignal | undefined): Promise<WriteLock> {
    return WriteLock.acquire(this.#home.path, this.#directory, signal)
  }

  #createRecord({ name, used }: AppliedFork): LinkRecord {
    return { directory: this.#directory, fork: name, used: used.getTime(), stage: createStageName() }
  }

  async #isApplied(mirror: string): Promise<boolean> {
    return (await this.#home.vaults()).includes(getUndoName(mirror))
  }

  async #assertRecovered(mirror: string): Promise<void> {
    const { recovery } = await this.#recoverLocked(mirror)
    if (recovery?.outcome !== 'stuck') return
    const detail = `an ${recovery.act} of ${recovery.fork} was killed in ${this.#directory} and cannot be undone: ${recovery.reason}`
    throw new VfsError('EUNAVAILABLE', this.#directory, { op: 'apply', detail })
  }

  /**
   * Checks that the directory equals a fork that has no changes and was never applied. Otherwise something else
   * merged it.
   */
  async #assertApplied(fork: AppliedFork, tree: HostTree, after: TreeFiles): Promise<void> {
    if (await this.#isApplied(fork.mirror)) return
    const reason = `differs from ${fork.name}`
    const conflicts = [...findDifferingPaths(tree, after)].map((path) => ({ path, reason }))
    if (conflicts.length > 0) throw new ApplyError(this.#directory, conflicts)
  }
}

/** The record names the stage before it exists, and later says that the directory has every change. */
function writePending(tree: HostTree, { mirror, record, pending, names }: PendingWrite): void {
  const { stage = createStageName() } = record
  const commit = () => writeRecord(mirror, { ...record, step: 'written' })
  if (pending.length === 0) {
    commit()
    return
  }
  writeRecord(mirror, record)
  writeDirectory(tree, { stage, changes: pending, names }, commit)
}

function clearApplyState({ directory, fork, used }: LinkRecord): LinkRecord {
  return { directory, fork, used }
}

/** Changes that give no file setuid or setgid; what is nothing without them is left out. Directories keep theirs. */
function dropSetuid(changes: readonly TreeChange[]): TreeChange[] {
  return changes.flatMap((change) => {
    const { before, after } = change
    if (after?.type !== 'file' || (after.mode & SPECIAL_BITS) === 0) return [change]
    const plain = { ...after, mode: after.mode & ~SPECIAL_BITS }
    return isSameEntry(before, plain) ? [] : [{ ...change, after: plain }]
  })
}
