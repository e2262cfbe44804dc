import type { TreeChange } from './compare-trees.ts'
import { createFileEntry, type LinkEntry, readEntry } from './link-entry.ts'
import { listAncestors } from './tree.ts'

/** A file of which only some changed lines are applied. */
export interface PickedFile {
  readonly path: string
  /** Its content before the fork changed it. */
  readonly base: Uint8Array
  /** The same content with the picked changes. */
  readonly content: Uint8Array
}

/** The part of a fork's changes that an apply writes; all of them when both are absent. */
export interface ChangeSelection {
  /** Paths of the directory such as `/src`, each with everything below it. */
  readonly paths?: readonly string[] | undefined
  readonly picks?: readonly PickedFile[] | undefined
}

export interface SelectedChanges {
  readonly selected: readonly TreeChange[]
  /** Changes that stay in the fork. */
  readonly others: readonly TreeChange[]
  /** Picked files whose earlier content is no longer the one that the lines were picked from. */
  readonly outdated: readonly string[]
}

/** Splits changes into those of a selection and the others. Directories that a selected path needs are selected too. */
export function selectChanges(
  changes: readonly TreeChange[],
  { paths, picks = [] }: ChangeSelection,
): SelectedChanges {
  if (paths === undefined && picks.length === 0) return { selected: changes, others: [], outdated: [] }
  const files = new Map(picks.map((pick) => [pick.path, pick]))
  const isChosen = ({ path }: TreeChange) => files.has(path) || isSelected(path, paths ?? [])
  const chosen = changes.filter(isChosen)
  const needed = new Set(
    chosen.filter(({ after }) => after !== undefined).flatMap(({ path }) => listAncestors(path)),
  )
  const isTaken = (change: TreeChange) =>
    isChosen(change) || (needed.has(change.path) && isNewDirectory(change))
  return {
    selected: changes.filter(isTaken).map((change) => pickLines(change, files.get(change.path))),
    others: changes.filter((change) => !isTaken(change)),
    outdated: chosen.filter((change) => isOutdated(change, files.get(change.path))).map(({ path }) => path),
  }
}

/** Reports whether one of some paths is a path, or a directory above it. */
export function isSelected(path: string, paths: readonly string[]): boolean {
  return paths.some((chosen) => chosen === '/' || path === chosen || path.startsWith(`${chosen}/`))
}

function isNewDirectory({ before, after }: TreeChange): boolean {
  return after?.type === 'directory' && before?.type !== 'directory'
}

function pickLines(change: TreeChange, pick: PickedFile | undefined): TreeChange {
  const { after } = change
  if (pick === undefined || after?.type !== 'file') return change
  return { ...change, after: createFileEntry(after, pick.content) }
}

function isOutdated({ before, after }: TreeChange, pick: PickedFile | undefined): boolean {
  if (pick === undefined) return false
  return after?.type !== 'file' || Buffer.compare(readIfFile(before), pick.base) !== 0
}

function readIfFile(entry: LinkEntry | undefined): Uint8Array {
  return entry?.type === 'file' ? readEntry(entry) : new Uint8Array(0)
}
