import { isVfsError, isWithin, type Stat, VfsError } from '../../vfs/index.ts'
import { applyOperation } from '../files/apply.ts'
import type { FileChange } from '../files/diff-files.ts'
import { Files, inlineText, type Moment, statOf } from '../files/files.ts'
import type { FileOperation } from '../files/operation.ts'
import { isText, type MergedText, mergeText, type SideNames } from '../text/index.ts'
import type { Inode } from '../tree/records.ts'
import type { Blobs } from './blobs.ts'
import { readContent, storeBytes, storedContentOf } from './content.ts'

/** What to do where both sides changed the same: refuse, keep one side, or put both between markers. */
export type OnConflict = 'fail' | 'ours' | 'theirs' | 'markers'

/** A path both sides changed in ways that do not go together. A side is null where the path is missing there. */
export interface MergeConflict {
  readonly path: string
  readonly base: Stat | null
  readonly ours: Stat | null
  readonly theirs: Stat | null
}

/** ECONFLICT with every conflict named; nothing has changed. */
export class MergeError extends VfsError {
  readonly conflicts: readonly MergeConflict[]

  constructor(conflicts: readonly MergeConflict[]) {
    const [first] = conflicts
    const detail = `both sides changed ${conflicts.map(({ path }) => `'${path}'`).join(', ')}`
    super('ECONFLICT', first?.path ?? '/', { op: 'merge', detail })
    this.conflicts = conflicts
  }
}

/** The three trees of a merge, and what each side changed since the base. */
export interface MergeSides {
  readonly base: Files
  readonly ours: Files
  readonly theirs: Files
  readonly ourChanges: readonly FileChange[]
  readonly theirChanges: readonly FileChange[]
  readonly names: SideNames
}

/** The operations that bring their changes to our tree, or the conflicts that stand in the way. */
export class MergePlan {
  readonly operations: FileOperation[] = []
  readonly conflicts: MergeConflict[] = []
  readonly #sides: MergeSides
  readonly #blobs: Blobs
  readonly #onConflict: OnConflict
  /** Our tree with the operations so far, to see whether the next one fits. */
  readonly #trial: Files
  readonly #moment: Moment = { time: { seconds: 0, nanos: 0 }, seq: 0 }
  readonly #ourPaths: ReadonlySet<string>
  readonly #ourMoves: readonly string[]

  constructor(sides: MergeSides, blobs: Blobs, onConflict: OnConflict) {
    this.#sides = sides
    this.#blobs = blobs
    this.#onConflict = onConflict
    this.#trial = new Files(sides.ours.tree.fork())
    this.#ourPaths = new Set(
      sides.ourChanges.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])),
    )
    this.#ourMoves = sides.ourChanges.flatMap(({ from }) => from ?? [])
    for (const change of sides.theirChanges) this.#take(change)
  }

  #take(change: FileChange): void {
    if (this.#isMet(change)) this.#reconcile(change.path)
    else this.#add(this.#operationsFor(change), change.path)
  }

  /** Whether we changed the same path, or moved away what it lies in, or changed something in what they moved. */
  #isMet({ kind, path, from }: FileChange): boolean {
    if (this.#ourPaths.has(path) || (from !== undefined && this.#ourPaths.has(from))) return true
    if (this.#ourMoves.some((moved) => isWithin(path, moved))) return true
    return (
      kind === 'renamed' && from !== undefined && this.#ourPaths.values().some((ours) => isWithin(ours, from))
    )
  }

  /** Both sides changed the path. */
  #reconcile(path: string): void {
    const { base, ours, theirs } = this.#sides
    const [old, mine, other] = [at(base, path), at(ours, path), at(theirs, path)]
    const joined = this.#joined(path, old, mine, other)
    if (joined === 'same' || (joined === null && this.#onConflict === 'ours')) return
    if (joined !== null) this.#write(path, joined.text)
    else if (this.#onConflict === 'theirs') this.#takeOver(path, other)
    else this.#refuse(path)
  }

  /** Both versions as one, if they are the same or can be merged by lines; null if not. */
  #joined(
    path: string,
    old: Inode | null,
    mine: Inode | null,
    other: Inode | null,
  ): MergedText | 'same' | null {
    const { base, ours, theirs, names } = this.#sides
    if (mine === null && other === null) return 'same'
    const [ourBytes, theirBytes] = [this.#bytes(ours, path, mine), this.#bytes(theirs, path, other)]
    if (ourBytes === null || theirBytes === null) return null
    if (mine?.mode === other?.mode && ourBytes.equals(theirBytes)) return 'same'
    if (!isText(ourBytes) || !isText(theirBytes)) return null
    const baseText = (this.#bytes(base, path, old) ?? Buffer.alloc(0)).toString()
    const merged = mergeText(baseText, ourBytes.toString(), theirBytes.toString(), names)
    return merged.hasConflict && this.#onConflict !== 'markers' ? null : merged
  }

  #write(path: string, text: string): void {
    this.#add(
      [{ op: 'write', path, content: storeBytes(Buffer.from(text), this.#blobs), parents: true }],
      path,
    )
  }

  #takeOver(path: string, theirs: Inode | null): void {
    const removal: FileOperation[] =
      at(this.#trial, path) === null ? [] : [{ op: 'remove', path, recursive: true }]
    this.#add(theirs === null ? removal : [...removal, ...this.#creation(path, theirs)], path)
  }

  #operationsFor({ kind, path, from, after }: FileChange): FileOperation[] {
    if (kind === 'deleted')
      return at(this.#trial, path) === null ? [] : [{ op: 'remove', path, recursive: true }]
    if (after === undefined) return []
    if (kind !== 'renamed' || from === undefined) return this.#creation(path, after)
    const renamed: FileOperation = { op: 'rename', path: from, to: path, overwrite: false }
    return after.type === 'file' ? [renamed, ...this.#creation(path, after)] : [renamed]
  }

  #creation(path: string, inode: Inode): FileOperation[] {
    const { type, mode, content } = inode
    if (type === 'directory') return [{ op: 'mkdir', path, parents: true, mode }]
    if (type === 'symlink') return [{ op: 'symlink', path, target: inlineText(content) }]
    const number = this.#sides.theirs.find(path)
    if (number === undefined) return []
    return [{ op: 'write', path, content: storedContentOf(this.#sides.theirs, number), parents: true, mode }]
  }

  /** Takes operations on if they fit our tree; if something of ours is in the way, that is a conflict. */
  #add(operations: readonly FileOperation[], path: string): void {
    const before = this.#trial.tree.snapshot()
    try {
      for (const operation of operations) applyOperation(this.#trial, operation, this.#moment)
      this.operations.push(...operations)
    } catch (error) {
      if (!isVfsError(error)) throw error
      this.#trial.tree.reset(before)
      if (this.#onConflict === 'ours') return
      this.#refuse(path)
    }
  }

  #refuse(path: string): void {
    const { base, ours, theirs } = this.#sides
    this.conflicts.push({ path, base: seen(base, path), ours: seen(ours, path), theirs: seen(theirs, path) })
  }

  #bytes(files: Files, path: string, inode: Inode | null): Buffer | null {
    const number = inode?.type === 'file' ? files.find(path) : undefined
    return number === undefined ? null : Buffer.concat([...readContent(files, number, this.#blobs)])
  }
}

function at(files: Files, path: string): Inode | null {
  const number = files.find(path)
  return number === undefined ? null : files.inode(number)
}

function seen(files: Files, path: string): Stat | null {
  const inode = at(files, path)
  return inode && statOf(inode)
}
