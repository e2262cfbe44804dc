import { type CallContext, isVfsError } from '../../vfs/index.ts'
import { compareTrees, createChangeWork, type TreeChange } from './compare-trees.ts'
import { writeDirectory } from './directory-write.ts'
import { ForkSecrets } from './fork-secrets.ts'
import { HostTree } from './host-tree.ts'
import type { LinkHome } from './link-home.ts'
import {
  clearUnfinished,
  getMergedName,
  getNextName,
  getUndoName,
  type LinkRecord,
  readRecord,
  writeRecord,
} from './link-record.ts'
import { writeMergedPaths } from './merged-paths.ts'
import { isUnsure, markUnsure } from './mirror.ts'
import type { FirstNames } from './new-files.ts'
import { createStageName } from './stage-names.ts'
import type { TreeFiles } from './tree.ts'
import { performWork } from './tree-work.ts'
import { discardStage, revertUnfinished } from './unfinished-write.ts'
import { createWriteError } from './write-error.ts'
import { guardPackedRefs } from './written-refs.ts'

/** Outcome of an apply or undo whose process was killed. */
export interface Recovery {
  readonly fork: string
  readonly act: 'apply' | 'undo'
  /** `stuck`: it could be neither completed nor reverted, and the next command retries. */
  readonly outcome: 'taken-back' | 'finished' | 'stuck'
  /** Reason of `stuck`. */
  readonly reason?: string
}

/** A planned apply or undo. */
export interface PlannedAct {
  /** The mirrors of its forks. */
  readonly mirrors: readonly string[]
  /** Changes of the directory. */
  readonly written: readonly TreeChange[]
  /** Files of these changes with several names: the first name of each. */
  readonly names: FirstNames
}

/** A planned apply, with what its undo needs. */
export interface PlannedApply extends PlannedAct {
  /** Changes of each mirror. */
  readonly changes: readonly (readonly TreeChange[])[]
  /** States of the directory that are not those of the mirrors. */
  readonly settled: readonly TreeChange[]
}

type Provenance = Pick<CallContext, 'caller' | 'trace'>
type Unfinished = LinkRecord & Required<Pick<LinkRecord, 'stage' | 'mirrors'>>

/**
 * The journal of applies and undos of a directory. The record of the first mirror, the leader, names the stage before
 * anything changes. An apply changes the mirrors, then the directory, and then keeps the earlier mirrors for an undo. An
 * undo changes the directory, then the mirrors. If the process is killed, another one reverts everything, or completes it
 * once the directory has every change.
 */
export class ApplyJournal {
  readonly #home: LinkHome
  readonly #directory: string

  constructor(home: LinkHome, directory: string) {
    this.#home = home
    this.#directory = directory
  }

  /** Writes a planned apply to the mirrors and the directory: all or none. */
  async apply(tree: HostTree, planned: PlannedApply, provenance: Provenance): Promise<void> {
    const { mirrors, changes, settled } = planned
    await this.#write(tree, planned, settled.length > 0 ? { hasMerged: true } : {}, async () => {
      for (const [index, name] of mirrors.entries()) {
        await this.#home.fork(name, getNextName(getUndoName(name)))
        const mirror = await this.#home.posix(name, { by: provenance })
        await performWork(mirror, (changes[index] ?? []).map(createChangeWork))
      }
      const [leader = ''] = mirrors
      if (settled.length === 0) return
      const merged = getNextName(getMergedName(leader))
      await this.#home.createVault(merged)
      await writeMergedPaths(await this.#home.posix(merged), settled)
    })
  }

  /** Writes a planned undo to the directory, and restores the mirrors: all or none. */
  async undo(tree: HostTree, planned: PlannedAct): Promise<void> {
    await this.#write(tree, planned, { isUndo: true }, async () => {})
  }

  /**
   * Completes or reverts the act of a killed process. The caller holds the lock. Returns the record afterwards. A failure
   * is not thrown: it is the outcome `stuck`.
   */
  async recover(
    mirror: string,
  ): Promise<{ readonly record: LinkRecord | undefined; readonly recovery?: Recovery }> {
    const files = await this.#home.posix(mirror)
    const record = readRecord(files)
    if (record?.leftStage !== undefined) return { record: this.#removeLeftStage(files, record) }
    if (record?.stage === undefined) return { record }
    const unfinished = { ...record, stage: record.stage, mirrors: record.mirrors ?? [mirror] }
    const interrupted = { fork: record.fork, act: record.isUndo === true ? 'undo' : 'apply' } as const
    try {
      const outcome = await this.#finishOrRevert(files, unfinished)
      return {
        record: readRecord(files),
        ...(outcome !== undefined && { recovery: { ...interrupted, outcome } }),
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return { record, recovery: { ...interrupted, outcome: 'stuck', reason } }
    }
  }

  async #write(
    tree: HostTree,
    { mirrors, written, names }: PlannedAct,
    kind: Pick<LinkRecord, 'isUndo' | 'hasMerged'>,
    prepare: () => Promise<void>,
  ): Promise<void> {
    const leader = await this.#home.posix(mirrors[0] ?? '')
    const stage = createStageName()
    const record: Unfinished = { ...clearUnfinished(requireRecord(leader)), ...kind, stage, mirrors }
    const commit = () => writeRecord(leader, { ...record, step: 'written' })
    writeRecord(leader, record)
    try {
      await prepare()
      if (written.length === 0) commit()
      else
        leader.readTogether(() =>
          writeDirectory(
            tree,
            { stage, changes: guardPackedRefs(tree, written), names, home: this.#home.path },
            commit,
          ),
        )
    } catch (error) {
      // If this fails too, the next command retries.
      await this.#revert(tree, leader, record).catch(() => {})
      // A system error of reading: another process may have moved what an undo reads.
      throw isVfsError(error) ? error : createWriteError(tree.path, stage, error)
    }
    await this.#finish(tree, leader, record)
  }

  /** Completes an act whose directory is written, or reverts it. Returns undefined if nothing had been written yet. */
  async #finishOrRevert(
    leader: TreeFiles,
    record: Unfinished,
  ): Promise<'taken-back' | 'finished' | undefined> {
    using tree = new HostTree(this.#directory)
    if (record.step === undefined)
      return (await this.#revert(tree, leader, record)) ? 'taken-back' : undefined
    await this.#finish(tree, leader, record)
    return 'finished'
  }

  #removeLeftStage(files: TreeFiles, record: LinkRecord): LinkRecord {
    const { leftStage, ...others } = record
    using tree = new HostTree(this.#directory)
    if (leftStage !== undefined && !discardStage(tree, leftStage)) return record
    writeRecord(files, others)
    return others
  }

  /** Reverts the directory and the mirrors. Returns false if the directory had not changed. */
  async #revert(tree: HostTree, leader: TreeFiles, record: Unfinished): Promise<boolean> {
    const isTakenBack = revertUnfinished(tree, record.stage)
    for (const name of record.mirrors) {
      const earlier = getNextName(getUndoName(name))
      if (record.isUndo === true || !(await this.#hasVault(earlier))) continue
      await restoreMirror(await this.#home.posix(name), await this.#home.posix(earlier))
      await this.#openSecrets(name).then((secrets) => secrets?.discardNext())
      await this.#home.deleteVault(earlier)
    }
    await this.#deleteIfPresent(getNextName(getMergedName(record.mirrors[0] ?? '')))
    writeRecord(leader, clearUnfinished(record))
    return isTakenBack
  }

  /** Completes an act whose directory is written. May run again after an interruption. */
  async #finish(tree: HostTree, leader: TreeFiles, record: Unfinished): Promise<void> {
    const { mirrors, stage, isUndo = false } = record
    const left = discardStage(tree, stage, this.#home.path) ? {} : { leftStage: stage }
    for (const name of mirrors) await (isUndo ? this.#finishUndo(name) : this.#finishApply(name))
    const merged = getMergedName(mirrors[0] ?? '')
    if (record.hasMerged === true) await this.#promote(merged)
    else await this.#deleteIfPresent(merged)
    const { act: _act, ...plain } = clearUnfinished(record)
    const act = isUndo ? {} : { act: { id: stage, mirrors } }
    for (const name of mirrors.slice(1)) {
      const files = await this.#home.posix(name)
      const { act: _earlier, ...others } = clearUnfinished(requireRecord(files))
      writeRecord(files, { ...others, ...act })
    }
    writeRecord(leader, { ...plain, ...act, ...left })
  }

  /** Keeps the earlier state of a mirror for an undo. */
  async #finishApply(mirror: string): Promise<void> {
    await this.#openSecrets(mirror).then((secrets) => secrets?.commitSaved())
    await this.#promote(getUndoName(mirror))
  }

  async #finishUndo(mirror: string): Promise<void> {
    const kept = getUndoName(mirror)
    if (!(await this.#hasVault(kept))) return
    await restoreMirror(await this.#home.posix(mirror), await this.#home.posix(kept))
    await this.#openSecrets(mirror).then((secrets) => secrets?.discardSaved())
    await this.#home.deleteVault(kept)
  }

  /** Gives the vault of an act that is complete its final name. */
  async #promote(name: string): Promise<void> {
    const next = getNextName(name)
    if (!(await this.#hasVault(next))) return
    await this.#deleteIfPresent(name)
    await this.#home.fork(next, name)
    await this.#home.deleteVault(next)
  }

  async #deleteIfPresent(name: string): Promise<void> {
    if (await this.#hasVault(name)) await this.#home.deleteVault(name)
  }

  async #hasVault(name: string): Promise<boolean> {
    return (await this.#home.vaults()).includes(name)
  }

  async #openSecrets(mirror: string): Promise<ForkSecrets | undefined> {
    const { fork } = requireRecord(await this.#home.posix(mirror))
    return ForkSecrets.open(this.#home.path, this.#directory, fork)
  }
}

/** Makes a mirror equal to its earlier state. */
async function restoreMirror(mirror: TreeFiles, earlier: TreeFiles): Promise<void> {
  const changes = compareTrees(mirror, earlier)
  await performWork(mirror, changes.map(createChangeWork))
  for (const { path } of changes) if (isUnsure(earlier, path)) markUnsure(mirror, path)
}

function requireRecord(mirror: TreeFiles): LinkRecord {
  const record = readRecord(mirror)
  if (record === undefined) throw new Error('the mirror has no record')
  return record
}
