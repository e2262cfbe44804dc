import { type Stat, VfsError } from '../../../vfs/index.ts'
import { toStat, type VaultFiles } from '../../files/vault-files.ts'
import { digestSides, type TextSides } from '../../text/index.ts'
import type { MergeSides } from './merge-sides.ts'

/**
 * Resolution where both sides changed the same: refuse, keep one side, or write both between markers.
 * With `markers`, a binary file keeps ours and gets theirs beside it as `name~fork`; a change wins over a removal.
 */
export type OnConflict = 'fail' | 'ours' | 'theirs' | 'markers'

/** A text that resolves a conflict of two versions. */
export interface ResolvedText {
  readonly bytes: Uint8Array
  /**
   * The `digestSides` of the two versions that it resolves: the conflict is open again if one of them changes. The
   * text resolves any versions when absent.
   */
  readonly sides?: string
}

/**
 * Resolution of one conflict: one side, the conflicting lines of both, or a text. Where `union` cannot take lines, it
 * keeps both versions as `markers` does.
 */
export type Resolution = 'ours' | 'theirs' | 'union' | ResolvedText

/** Resolution of all conflicts, and of single ones. */
export interface ConflictOptions {
  /** Throw (`fail`), keep one side, or write both between markers in text files. */
  readonly onConflict: OnConflict
  /** Resolutions by path, as in `new Map([['/a.txt', 'theirs']])`. They win over `onConflict`. */
  readonly resolutions?: ReadonlyMap<string, Resolution> | undefined
  /** Called with the versions of each text file in conflict, resolved or not. */
  readonly onTextConflict?: ((path: string, sides: TextSides) => void) | undefined
}

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

/** Decides the resolution of conflicts, and collects those that have none, each path once. */
export class Conflicts {
  readonly #sides: MergeSides
  readonly #options: ConflictOptions
  readonly #byPath = new Map<string, MergeConflict>()

  constructor(sides: MergeSides, options: ConflictOptions) {
    this.#sides = sides
    this.#options = options
  }

  /**
   * Returns the resolution of the conflict at a path. With `fail` the merge continues with ours, to find the other
   * conflicts.
   */
  resolve(path: string, inodes: ConflictInodes, texts?: TextSides): Resolution | 'markers' {
    if (texts !== undefined) this.#options.onTextConflict?.(path, texts)
    const resolution = this.#options.resolutions?.get(path)
    if (resolution !== undefined && isApplicable(resolution, texts)) return resolution
    this.#add(path, inodes)
    return this.#options.onConflict === 'fail' ? 'ours' : this.#options.onConflict
  }

  /** Reports whether a path keeps theirs in a conflict that is not listed, such as one of labels. */
  prefersTheirs(path: string): boolean {
    return (this.#options.resolutions?.get(path) ?? this.#options.onConflict) === 'theirs'
  }

  /** Lists the conflicts without a resolution of their own, in the order of paths. */
  listByPath(): MergeConflict[] {
    return [...this.#byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  #add(path: string, { base, ours, theirs }: ConflictInodes): void {
    if (this.#byPath.has(path)) return
    this.#byPath.set(path, {
      path,
      base: findStat(this.#sides.base, base),
      ours: findStat(this.#sides.ours, ours),
      theirs: findStat(this.#sides.theirs, theirs),
    })
  }
}

/** Reports whether a resolution is one of these versions: a text resolves no others. */
function isApplicable(resolution: Resolution, texts: TextSides | undefined): boolean {
  if (typeof resolution === 'string') return true
  return texts !== undefined && [undefined, digestSides(texts)].includes(resolution.sides)
}

function findStat(files: VaultFiles, number: number | undefined): Stat | null {
  const inode = number === undefined ? undefined : files.findInode(number)
  return inode === undefined ? null : toStat(inode)
}
