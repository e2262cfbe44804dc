import { type Stat, VfsError } from '../../../vfs/index.ts'
import { toStat, type VaultFiles } from '../../files/vault-files.ts'
import type { MergeSides } from './merge-sides.ts'

/**
 * Resolution where both sides changed the same: refuse, keep one side, or write both between markers.
 * With `markers`, a binary file keeps ours and gets theirs beside it as `name~fork`; a change wins over a removal.
 */
export type OnConflict = 'fail' | 'ours' | 'theirs' | 'markers'

/** A path with incompatible changes on both sides. A side is null where the file is missing. */
export interface MergeConflict {
  readonly path: string
  readonly base: Stat | null
  readonly ours: Stat | null
  readonly theirs: Stat | null
}

/** ECONFLICT that lists every conflict; nothing has changed. */
export class MergeError extends VfsError {
  readonly conflicts: readonly MergeConflict[]

  constructor(conflicts: readonly MergeConflict[]) {
    const [first] = conflicts
    const detail = `both sides changed ${conflicts.map(({ path }) => `'${path}'`).join(', ')}`
    super('ECONFLICT', first?.path ?? '/', { op: 'merge', detail })
    this.conflicts = conflicts
  }
}

/** Inodes of the file in conflict on each side. */
export interface ConflictInodes {
  readonly base: number | undefined
  readonly ours: number | undefined
  readonly theirs: number | undefined
}

/** Collects conflicts, each path once, and decides their resolution. */
export class Conflicts {
  /** Resolution of the next conflict. With `fail` the merge continues with ours, to find the other conflicts. */
  readonly resolution: Exclude<OnConflict, 'fail'>
  readonly #sides: MergeSides
  readonly #byPath = new Map<string, MergeConflict>()

  constructor(sides: MergeSides, onConflict: OnConflict) {
    this.#sides = sides
    this.resolution = onConflict === 'fail' ? 'ours' : onConflict
  }

  add(path: string, { base, ours, theirs }: ConflictInodes): void {
    if (this.#byPath.has(path)) return
    this.#byPath.set(path, {
      path,
      base: findStat(this.#sides.base, base),
      ours: findStat(this.#sides.ours, ours),
      theirs: findStat(this.#sides.theirs, theirs),
    })
  }

  listByPath(): MergeConflict[] {
    return [...this.#byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  }
}

function findStat(files: VaultFiles, number: number | undefined): Stat | null {
  const inode = number === undefined ? undefined : files.findInode(number)
  return inode === undefined ? null : toStat(inode)
}
