import { isGitDirectory, parseGitPath } from '../git-files/index.ts'
import {
  type ApplyConflict,
  getParent,
  type HostTree,
  isRefreshedIndex,
  isSameState,
  type LinkEntry,
  mergeEntries,
  type TreeChange,
} from '../workspace/link/index.ts'
import type { RecordHistory } from './record-history.ts'
import { StateHistory, type StateStep } from './state-history.ts'
import type { RecordedPath, TimelineRecord, TimelineVault } from './timeline-record.ts'

export interface UndoOptions {
  /** Undoes the agent's lines of a file that a person changed in other lines, and keeps those. */
  readonly merge?: boolean
  /** Takes changes of an unclear author for the agent's: those after a call that did not finish. */
  readonly unfinished?: boolean
}

/** Changes that put paths back, and the reasons why some cannot be. */
export interface UndoPlan {
  readonly changes: readonly TreeChange[]
  readonly conflicts: readonly ApplyConflict[]
  /** The first record to undo of each path, also of those that are already back. */
  readonly since: Readonly<Record<string, number>>
}

const MERGE_OPTIONS = { names: { ours: 'now', theirs: 'before' }, onConflict: 'fail' } as const

/** Parts of a repository that git may write again at any time, with another form and no other meaning. */
const RENEWED_PARTS: ReadonlySet<string> = new Set(['object', 'object-info', 'note'])

type Blocker = TimelineRecord['by']

/** Plans to put paths back to their state before a record. Nothing of a person's is planned to be lost. */
export class UndoPlanner {
  readonly #vault: TimelineVault
  readonly #states: StateHistory
  readonly #tree: HostTree
  readonly #options: UndoOptions

  constructor(vault: TimelineVault, history: RecordHistory, tree: HostTree, options: UndoOptions) {
    this.#vault = vault
    this.#states = new StateHistory(vault, history)
    this.#tree = tree
    this.#options = options
  }

  /**
   * Plans all paths. A path that cannot be put back is a conflict.
   * @param since the record before which each path was in its wanted state.
   * @param blockers authors whose later changes stay.
   */
  plan(since: ReadonlyMap<string, number>, blockers: readonly Blocker[]): UndoPlan {
    const conflicts: ApplyConflict[] = []
    const changes: TreeChange[] = []
    const unpacked = this.#states.unpackSince(since)
    for (const path of [...unpacked.keys()].sort()) {
      const steps = this.#states.listSteps(path, unpacked.get(path) ?? 0)
      const planned = this.#planPath(path, steps, blockers)
      if (typeof planned === 'string') conflicts.push({ path, reason: planned })
      else if (planned !== undefined) changes.push(planned)
    }
    const kept = this.#keepUsedDirectories(changes, conflicts)
    conflicts.push(...this.#findMissingParents(kept))
    return { changes: kept, conflicts, since: Object.fromEntries(since) }
  }

  /** Returns the change, undefined if there is none to make, or the reason of a conflict. */
  #planPath(
    path: string,
    steps: readonly StateStep[],
    blockers: readonly Blocker[],
  ): TreeChange | string | undefined {
    const [first] = steps
    if (first === undefined) return undefined
    const before = this.#states.findLatest(path)
    const { before: after } = first
    const isBack = isSameState(path, before, after)
    const blocking = steps.filter((step) => this.#isBlocking(path, step, blockers))
    const [blocker] = blocking
    if (blocker === undefined) return isBack ? undefined : { path, before, after }
    // Git writes these again when it packs what it has. Nothing is lost if they stay.
    if (RENEWED_PARTS.has(parseGitPath(path)?.part ?? '')) return undefined
    // If the last change is somebody else's, it is back by their own hand. Otherwise theirs was overwritten.
    if (isBack && blocking.at(-1) === steps.at(-1)) return undefined
    if (blocker.record.by === 'unclear')
      return `changed after ${formatCall(blocker.record)} began, which did not finish; perhaps you changed it`
    if (blocker.record.by === 'agent') return `was changed by ${formatCall(blocker.record)} since`
    if (this.#options.merge !== true) return 'was changed by you since'
    const merged = mergeBack(path, before, steps, new Set(blocking))
    if (merged === undefined) return 'was changed by you in the same place'
    return isSameState(path, before, merged.entry) ? undefined : { path, before, after: merged.entry }
  }

  #isBlocking(path: string, { record, before, after }: StateStep, blockers: readonly Blocker[]): boolean {
    if (record.by === 'unclear' && this.#options.unfinished === true) return false
    if (!blockers.includes(record.by)) return false
    // `git status` writes the index too.
    return !isRefreshedIndex(path, before, after)
  }

  /**
   * Returns the changes without the removal of directories that still have entries, such as files that were not
   * recorded. One that a file is to replace is added to the conflicts.
   */
  #keepUsedDirectories(changes: readonly TreeChange[], conflicts: ApplyConflict[]): TreeChange[] {
    const removed = new Set<string>()
    const kept: TreeChange[] = []
    for (const change of changes.toReversed()) {
      const { path, before, after } = change
      const isUsed =
        before?.type === 'directory' &&
        after?.type !== 'directory' &&
        this.#tree.listNames(path).some((name) => !removed.has(`${path}/${name}`))
      if (isUsed && after === undefined) continue
      if (isUsed) conflicts.push({ path, reason: 'has files that were not recorded' })
      if (after === undefined || isUsed) removed.add(path)
      kept.push(change)
    }
    return kept.reverse()
  }

  #findMissingParents(changes: readonly TreeChange[]): ApplyConflict[] {
    const planned = new Map(changes.map(({ path, after }) => [path, after]))
    return changes.flatMap(({ path, after }) => {
      const parent = getParent(path)
      if (after === undefined || parent === '/' || isGitDirectory(parent)) return []
      const above = planned.has(parent) ? planned.get(parent) : this.#vault.findLatest(parent)
      return above?.type === 'directory' ? [] : [{ path, reason: 'has no directory any more' }]
    })
  }
}

/** Reverts each run of changes except those to keep, the latest first; undefined if lines conflict. */
function mergeBack(
  path: string,
  current: LinkEntry | undefined,
  steps: readonly StateStep[],
  kept: ReadonlySet<StateStep>,
): { readonly entry: LinkEntry | undefined } | undefined {
  let merged: { readonly entry: LinkEntry | undefined } = { entry: current }
  let end: StateStep | undefined
  for (const [index, step] of steps.entries().toArray().reverse()) {
    if (kept.has(step)) continue
    end ??= step
    const previous = steps[index - 1]
    if (previous !== undefined && !kept.has(previous)) continue
    const triple = { base: end.after, ours: merged.entry, theirs: step.before }
    const next = mergeEntries(path, triple, MERGE_OPTIONS)
    if ('conflict' in next) return undefined
    merged = next
    end = undefined
  }
  return merged
}

function formatCall({ call }: TimelineRecord): string {
  return call === undefined ? 'an agent' : `${call.prompt}.${call.number} ${call.tool}`
}

/** Finds the number of the first wanted record of each path. */
export function findFirstRecords(
  records: readonly TimelineRecord[],
  isWanted: (record: TimelineRecord, change: RecordedPath) => boolean,
): Map<string, number> {
  const first = new Map<string, number>()
  for (const record of records)
    for (const change of record.changes)
      if (!first.has(change.path) && isWanted(record, change)) first.set(change.path, record.number)
  return first
}
