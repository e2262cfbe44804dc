import {
  digestSides,
  isText,
  mergeText,
  type Resolution,
  type SideNames,
  type TextSides,
} from '../../backends/vault/index.ts'
import { createFileEntry, isSameEntry, type LinkEntry, readEntry } from './link-entry.ts'

/** Larger files are not merged by lines. */
const MAX_TEXT_BYTES = 16 * 2 ** 20

/** The three states of a path. */
export interface EntryTriple {
  readonly base: LinkEntry | undefined
  readonly ours: LinkEntry | undefined
  readonly theirs: LinkEntry | undefined
  /** True if there was a base, and nothing knows it any more. */
  readonly isBaseLost?: boolean
}

export interface EntryMergeOptions {
  /** Names of the two sides in conflict markers. */
  readonly names: SideNames
  /**
   * In a conflict: `fail`, keep one side, or with `both` keep both versions, between markers or theirs beside ours. A
   * change then wins over a removal.
   */
  readonly onConflict: 'fail' | 'both' | 'ours' | 'theirs'
  /** Resolutions by path. They win over `onConflict`. */
  readonly resolutions?: ReadonlyMap<string, Resolution> | undefined
  /** Called with the versions of each text file in conflict, resolved or not. */
  readonly onTextConflict?: ((path: string, sides: TextSides) => void) | undefined
}

/** Merge options for one path. */
interface PathMergeOptions {
  readonly names: SideNames
  readonly choice: EntryMergeOptions['onConflict'] | Resolution
  onTextConflict(sides: TextSides): void
}

/** Outcome of a merge: the merged entry, or the reason of a conflict. */
export type EntryMerge =
  | {
      readonly entry: LinkEntry | undefined
      /** True for a conflict of which both versions are kept. */
      readonly isUnresolved?: true
      /** Their version, for a name beside ours. */
      readonly beside?: LinkEntry
    }
  | { readonly conflict: string }

/** Merges two changes of one entry: content by lines, permissions separately. */
export function mergeEntries(path: string, triple: EntryTriple, options: EntryMergeOptions): EntryMerge {
  const choice = options.resolutions?.get(path) ?? options.onConflict
  const onTextConflict = (sides: TextSides) => options.onTextConflict?.(path, sides)
  const merged = mergeChanges(triple, { names: options.names, choice, onTextConflict })
  if ('conflict' in merged && choice === 'ours') return { entry: triple.ours }
  if ('conflict' in merged && choice === 'theirs') return { entry: triple.theirs }
  return merged
}

function mergeChanges(triple: EntryTriple, options: PathMergeOptions): EntryMerge {
  const { base, ours, theirs } = triple
  if (isSameEntry(ours, theirs) || isSameEntry(base, theirs)) return { entry: ours }
  if (isSameEntry(base, ours)) return { entry: theirs }
  if (ours === undefined || theirs === undefined) return mergeRemoval(triple, options)
  if (ours.type === 'directory' && theirs.type === 'directory')
    return { entry: { ...ours, mode: mergeMode(base, ours, theirs) } }
  if (ours.type === 'file' && theirs.type === 'file') return mergeFiles({ ...triple, ours, theirs }, options)
  return keepBoth(ours, theirs, options, 'has another type or target on each side')
}

function mergeRemoval({ ours, theirs }: EntryTriple, { choice }: PathMergeOptions): EntryMerge {
  if (choice === 'union') return { entry: ours ?? theirs }
  if (choice === 'both') return { entry: ours ?? theirs, isUnresolved: true }
  return {
    conflict:
      ours === undefined
        ? 'was removed here, and changed in the fork'
        : 'changed here, and was removed in the fork',
  }
}

function mergeFiles(
  { base, ours, theirs, isBaseLost = false }: EntryTriple & { ours: LinkEntry; theirs: LinkEntry },
  options: PathMergeOptions,
): EntryMerge {
  const old = base?.type === 'file' ? base : undefined
  const mode = mergeMode(old, ours, theirs)
  const [plainBase, plainOurs, plainTheirs] = [
    old && { ...old, mode },
    { ...ours, mode },
    { ...theirs, mode },
  ]
  if (isSameEntry(plainBase, plainTheirs) || isSameEntry(plainOurs, plainTheirs)) return { entry: plainOurs }
  if (isSameEntry(plainBase, plainOurs)) return { entry: plainTheirs }
  const [before, mine, their] = [old === undefined ? '' : readText(old), readText(ours), readText(theirs)]
  if (before === undefined || mine === undefined || their === undefined)
    return keepBoth(plainOurs, plainTheirs, options, 'is no text, and changed on both sides')
  const toEntry = (bytes: Uint8Array) => ({ ...createFileEntry(plainOurs, bytes), mtime: theirs.mtime })
  const sides = { base: before, ours: mine, theirs: their }
  const { text, hasConflict } = mergeText(sides, options.names)
  if (!hasConflict) return { entry: toEntry(Buffer.from(text, 'latin1')) }
  options.onTextConflict(sides)
  const { choice, names } = options
  if (choice === 'both') return { entry: toEntry(Buffer.from(text, 'latin1')), isUnresolved: true }
  if (choice === 'union')
    return { entry: toEntry(Buffer.from(mergeText(sides, names, 'union').text, 'latin1')) }
  if (typeof choice !== 'string' && [undefined, digestSides(sides)].includes(choice.sides))
    return { entry: toEntry(choice.bytes) }
  if (isBaseLost) return { conflict: 'changed while the command ran, so that it cannot be merged by lines' }
  return { conflict: old === undefined ? 'was created on both sides' : 'has other changes in the same lines' }
}

function keepBoth(
  ours: LinkEntry,
  theirs: LinkEntry,
  { choice }: PathMergeOptions,
  conflict: string,
): EntryMerge {
  const hasDirectory = ours.type === 'directory' || theirs.type === 'directory'
  const keepsBoth = choice === 'both' || choice === 'union'
  if (!keepsBoth || hasDirectory || ours.type === 'other') return { conflict }
  return { entry: ours, beside: theirs, ...(choice === 'both' && { isUnresolved: true }) }
}

/** Merges permissions bit by bit: each side keeps the bits that it changed. Without a base, ours stay. */
function mergeMode(base: LinkEntry | undefined, ours: LinkEntry, theirs: LinkEntry): number {
  if (base === undefined) return ours.mode
  // Where the sides differ, one of them has changed the bit.
  return (ours.mode & theirs.mode) | ((ours.mode ^ theirs.mode) & ~base.mode)
}

/** Reads a file with each byte as a character, which preserves text in any encoding. Undefined for a binary or a large file. */
function readText(entry: LinkEntry): string | undefined {
  if (entry.size > MAX_TEXT_BYTES) return undefined
  const bytes = readEntry(entry)
  return isText(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    : undefined
}
