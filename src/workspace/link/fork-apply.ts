import { type CallContext, VfsError } from '../../vfs/index.ts'
import { ApplyError } from './apply-conflicts.ts'
import { ApplyJournal, type Recovery } from './apply-journal.ts'
import { combinePlans } from './combine-changes.ts'
import { compareTrees, type TreeChange } from './compare-trees.ts'
import { findDifferingPaths } from './differing-paths.ts'
import { type ForkPlan, type OpenFork, type PlanOptions, planFork } from './fork-plan.ts'
import { ForkSecrets } from './fork-secrets.ts'
import { HostTree } from './host-tree.ts'
import type { LinkHome } from './link-home.ts'
import { getMergedName, getUndoName, isMirrorOf, type LinkRecord, readRecord } from './link-record.ts'
import type { EntryMergeOptions } from './merge-entries.ts'
import { readMergedPaths } from './merged-paths.ts'
import { PlannedTree } from './planned-tree.ts'
import { type ChangeSelection, isSelected } from './select-changes.ts'
import { planUndo, type UndoneFork } from './undo-plan.ts'
import { WriteLock } from './write-lock.ts'

/** A fork of a linked directory, and the vault that mirrors its base. */
export interface AppliedFork {
  readonly name: string
  readonly mirror: string
}

type Provenance = Pick<CallContext, 'caller' | 'trace'>

/** Caller of an apply, the signal that cancels its wait for other writers, and what is applied. */
export interface ApplyContext extends Pick<CallContext, 'caller' | 'trace' | 'signal'>, ChangeSelection {
  /** Writes setuid and setgid bits of the fork. They are not written when absent. */
  readonly keepSetuid?: boolean
  /**
   * Merges files that the directory has changed too: `strict` fails in a conflict, `markers` writes both versions.
   * Without it, every such file is a conflict.
   */
  readonly merge?: 'strict' | 'markers' | undefined
  /** Resolutions of conflicts, and a listener for those of texts. */
  readonly conflicts?: Pick<EntryMergeOptions, 'resolutions' | 'onTextConflict'> | undefined
  /** Changes nothing, and returns what would be written. */
  readonly isTrial?: boolean
}

type ApplyOptions = Omit<PlanOptions, 'merge'> & Pick<ApplyContext, 'merge' | 'conflicts' | 'isTrial'>

/** A fork with its trees while it is applied or undone. */
interface OpenMember extends OpenFork {
  readonly fork: AppliedFork
}

/** Applies forks to their directory, and undoes that. */
export class ForkApply {
  readonly #home: LinkHome
  readonly #directory: string
  readonly #journal: ApplyJournal

  constructor(home: LinkHome, directory: string) {
    this.#home = home
    this.#directory = directory
    this.#journal = new ApplyJournal(home, directory)
  }

  /**
   * Applies forks in this order, as one act, and returns the applied changes. Throws ApplyError in a conflict, ENOENT if a
   * selected path has no change.
   */
  async apply(forks: readonly AppliedFork[], context: ApplyContext): Promise<TreeChange[]> {
    const { signal, caller, trace, isTrial = false, ...options } = context
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    using _lock = await this.#acquireLock(signal)
    await this.#assertRecovered()
    using tree = new HostTree(this.#directory)
    const members = await Promise.all(forks.map((fork) => this.#openMember(fork, provenance)))
    this.#assertSelected(members, options)
    const plans = this.#planForks(tree, members, { ...options, isTrial })
    for (const [index, { isIdle }] of plans.entries())
      if (isIdle && members[index] !== undefined) await this.#assertApplied(members[index])
    const active = members
      .map((member, index) => ({ member, plan: plans[index] }))
      .flatMap(({ member, plan }) =>
        plan !== undefined && plan.changes.length > 0 ? [{ member, plan }] : [],
      )
    // Nothing is written then, and the last apply can still be undone.
    if (active.length === 0) return []
    const planned = combinePlans(active.map(({ plan }) => plan))
    if (isTrial) return [...planned.reported]
    const mirrors = active.map(({ member }) => member.fork.mirror)
    await this.#journal.apply(tree, { ...planned, mirrors }, provenance)
    return planned.reported
  }

  /**
   * Undoes the last apply of a fork, with all forks that were applied in the same act. Returns the undone changes. Throws
   * ENOENT if it cannot be undone, ApplyError if the directory changed since.
   */
  async undo(fork: AppliedFork, { signal, ...context }: ApplyContext): Promise<TreeChange[]> {
    const { caller, trace } = context
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    using _lock = await this.#acquireLock(signal)
    await this.#assertRecovered()
    using tree = new HostTree(this.#directory)
    const members = await this.#openApplied(fork, provenance)
    const applied = await Promise.all(members.map((member) => this.#readApplied(member)))
    const merged = await this.#readMerged(members[0])
    const { changes, written } = tree.visitTogether(() =>
      readTogether(members, () => planUndo(tree, applied, merged)),
    )
    const mirrors = members.map((member) => member.fork.mirror)
    await this.#journal.undo(tree, { mirrors, written, names: new Map() })
    return changes
  }

  /** Lists the paths at which the directory differs from a fork. */
  async listDifferingPaths(fork: string): Promise<string[]> {
    const after = await this.#home.posix(fork)
    using tree = new HostTree(this.#directory)
    const view = this.#openSecrets(fork)?.openMaskedTree(tree, after) ?? tree
    return tree.visitTogether(() => after.readTogether(() => [...findDifferingPaths(view, after)]))
  }

  /** True if the last apply of a fork can be undone. */
  async isApplied({ mirror }: AppliedFork): Promise<boolean> {
    return (await this.#home.vaults()).includes(getUndoName(mirror))
  }

  /** Lists the names of the forks that an undo of this one reverts with it, in the order of their apply. */
  async listAppliedTogether({ mirror }: AppliedFork): Promise<string[]> {
    const { act } = readRecord(await this.#home.posix(mirror)) ?? {}
    const names = await this.#home.vaults()
    const others = (act?.mirrors ?? [mirror]).filter((each) => names.includes(each))
    return Promise.all(others.map(async (each) => readRecord(await this.#home.posix(each))?.fork ?? each))
  }

  /**
   * Completes or reverts the apply of a killed process. Does nothing while another process writes to the directory.
   * Returns the mirror's record afterwards.
   */
  async recoverApply(
    mirror: string,
  ): Promise<{ readonly record: LinkRecord | undefined; readonly recovery?: Recovery }> {
    const record = readRecord(await this.#home.posix(mirror))
    if (record?.stage === undefined && record?.leftStage === undefined) return { record }
    using lock = WriteLock.tryAcquire(this.#home.path, this.#directory)
    return lock === undefined ? { record } : this.#journal.recover(mirror)
  }

  /** Plans the forks in order: each meets the directory as the forks before it leave it. */
  #planForks(
    tree: HostTree,
    members: readonly OpenMember[],
    { merge, conflicts, isTrial, ...options }: ApplyOptions,
  ): ForkPlan[] {
    const planned = new PlannedTree(tree)
    const plan = (member: OpenMember): ForkPlan => {
      const names = { ours: 'this directory', theirs: member.fork.name }
      const mergeOptions =
        merge === undefined
          ? undefined
          : ({ names, onConflict: merge === 'markers' ? 'both' : 'fail', ...conflicts } as const)
      try {
        const forkPlan = planFork(planned, member, { ...options, merge: mergeOptions })
        planned.add(forkPlan.written, member.fork.name)
        return forkPlan
      } catch (error) {
        throw error instanceof ApplyError ? planned.nameRivals(error, merge !== undefined) : error
      }
    }
    let isKept = false
    try {
      const plans = tree.visitTogether(() => readTogether(members, () => members.map(plan)))
      isKept = isTrial !== true
      return plans
    } finally {
      // The forks before one in conflict have saved values for an undo.
      if (!isKept) for (const { secrets } of members) secrets?.discardNext()
    }
  }

  async #openMember(fork: AppliedFork, provenance: Provenance): Promise<OpenMember> {
    const [mirror, after] = [
      await this.#home.posix(fork.mirror, { by: provenance }),
      await this.#home.posix(fork.name),
    ]
    return { fork, mirror, after, secrets: this.#openSecrets(fork.name) }
  }

  /** Opens the forks of the last apply of a fork. ENOENT if it cannot be undone. */
  async #openApplied(fork: AppliedFork, provenance: Provenance): Promise<OpenMember[]> {
    const names = await this.#home.vaults()
    const { act } = readRecord(await this.#home.posix(fork.mirror)) ?? {}
    if (!(await this.isApplied(fork)))
      throw this.#createUndoError(
        `${fork.name} was not applied to ${this.#directory}, or its last apply was undone; there is nothing to undo`,
      )
    const members: OpenMember[] = []
    for (const mirror of act?.mirrors ?? [fork.mirror]) {
      const record = names.includes(mirror) ? readRecord(await this.#home.posix(mirror)) : undefined
      const isWhole = names.includes(getUndoName(mirror)) && names.includes(record?.fork ?? '')
      if (record === undefined || !isWhole || record.act?.id !== act?.id)
        throw this.#createUndoError(
          `${fork.name} was applied together with ${record?.fork ?? 'another fork'}, which was applied again or dropped since; they can no longer be undone together`,
        )
      members.push(await this.#openMember({ name: record.fork, mirror }, provenance))
    }
    return members
  }

  #createUndoError(detail: string): VfsError {
    return new VfsError('ENOENT', this.#directory, { op: 'undo', detail })
  }

  async #readApplied(member: OpenMember): Promise<UndoneFork> {
    const earlier = await this.#home.posix(getUndoName(member.fork.mirror))
    return { ...member, earlier, changes: compareTrees(member.mirror, earlier) }
  }

  async #readMerged(leader: OpenMember | undefined): Promise<TreeChange[]> {
    const name = getMergedName(leader?.fork.mirror ?? '')
    if (!(await this.#home.vaults()).includes(name)) return []
    return readMergedPaths(await this.#home.posix(name))
  }

  #openSecrets(fork: string): ForkSecrets | undefined {
    return ForkSecrets.open(this.#home.path, this.#directory, fork)
  }

  #acquireLock(signal: AbortSignal | undefined): Promise<WriteLock> {
    return WriteLock.acquire(this.#home.path, this.#directory, signal)
  }

  /** Completes or reverts every act of a killed process. Throws EUNAVAILABLE if one can be neither. */
  async #assertRecovered(): Promise<void> {
    for (const name of await this.#home.vaults()) {
      const { recovery } = isMirrorOf(this.#directory, name) ? await this.#journal.recover(name) : {}
      if (recovery?.outcome !== 'stuck') continue
      const detail = `an ${recovery.act} of ${recovery.fork} was killed in ${this.#directory} and can be neither completed nor reverted: ${recovery.reason}`
      throw new VfsError('EUNAVAILABLE', this.#directory, { op: 'apply', detail })
    }
  }

  /** Throws ENOENT for a selected path that no fork has changed. */
  #assertSelected(members: readonly OpenMember[], { paths = [], picks = [] }: ChangeSelection): void {
    if (paths.length === 0) return
    const changed = members.flatMap(({ mirror, after }) =>
      compareTrees(mirror, after).map(({ path }) => path),
    )
    const picked = picks.map(({ path }) => path)
    const unknown = paths.find((path) => ![...changed, ...picked].some((each) => isSelected(each, [path])))
    if (unknown === undefined) return
    const names = members.map(({ fork }) => fork.name).join(', ')
    const detail = `nothing was written to ${this.#directory}: ${names} has no change at ${unknown}; see coppice diff ${names} --stat`
    throw new VfsError('ENOENT', unknown, { op: 'apply', detail })
  }

  /**
   * Throws ApplyError if the directory differs from a fork that has no changes and was never applied: something else
   * merged it.
   */
  async #assertApplied({ fork, after, secrets }: OpenMember): Promise<void> {
    if (await this.isApplied(fork)) return
    const reason = `differs from ${fork.name}`
    using tree = new HostTree(this.#directory)
    const view = secrets?.openMaskedTree(tree, after) ?? tree
    const paths = tree.visitTogether(() => after.readTogether(() => [...findDifferingPaths(view, after)]))
    const conflicts = paths.map((path) => ({ path, reason }))
    if (conflicts.length > 0) throw new ApplyError(this.#directory, conflicts)
  }
}

function readTogether<T>([first]: readonly OpenMember[], work: () => T): T {
  return first === undefined ? work() : first.mirror.readTogether(work)
}
